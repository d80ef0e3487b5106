#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes inputs of the fuzzers udp_engine and udp_packet by hand: probes of lengths and of rails,
answers to them, packets of a second rail, and packets in pieces. The fields are those of
src/net/udp/wire/udp_packet.c.

Usage: seeds.py            writes into corpus/
"""

import struct
from pathlib import Path

PROBE, ANSWER, PUT, PIECE = 7, 8, 2, 10
NUMBERED, ACK_NOW = 1, 2
TAIL = 1
RAIL_ASKED = 0x80000000
HERE = Path(__file__).resolve().parent


def record(kind, addr, number, flags=0, payload=0):
    """A record with the fields of a probe or an answer."""
    return struct.pack("<BBHIQII", kind, flags, 24, payload, addr, number, 0)


def piece(number, at, total, data):
    """A packet with a piece of packet `number`."""
    body = struct.pack("<QQII", at, total, number, 0) + data
    body += bytes(-len(body) % 8)
    return packet(struct.pack("<BBHI", PIECE, 0, 8 + len(body), len(data)) + body)


def packet(control, tail=b"", flags=0, rail=0, sack=0, ack=1):
    """A packet; the fuzzer udp_engine puts job, source and hash right."""
    body = control + b"\0" * (-(40 + len(control)) % 16 if tail else 0) + tail
    head = struct.pack("<QIIIIIIHHBBH", 0, 0, 1, 1, ack, sack, 0, 40 + len(body), len(control),
                       flags, rail, 0)
    return head + body


def inputs():
    """{name: packets}"""
    probe = packet(record(PROBE, 0, 1, TAIL, 1400), bytes(1400))
    rail_probe = packet(record(PROBE, 1, RAIL_ASKED | 1232, TAIL, 1168), bytes(1168), rail=1)
    put = packet(struct.pack("<BBHIQ", PUT, 0, 24, 8, 0xA5 << 56) + bytes(8),
                 flags=NUMBERED | ACK_NOW, rail=1)
    first, rest = piece(1, 0, len(put), put[:32]), piece(1, 32, len(put), put[32:])
    return {
        "probe": [probe],
        "probe-short-tail": [packet(record(PROBE, 0, 1, TAIL, 1400), bytes(16))],
        "answer": [packet(record(ANSWER, 0, 1))],
        "answer-unasked": [packet(record(ANSWER, 0, 77))],
        "rail-probe": [rail_probe],
        "rail-answer": [packet(record(ANSWER, 1, RAIL_ASKED | 1232), rail=1)],
        "rail-answer-beyond": [packet(record(ANSWER, 9, RAIL_ASKED | 65535), rail=255)],
        "rail-second": [put, rail_probe, packet(record(ANSWER, 1, RAIL_ASKED | 1232)), put],
        "rail-acks": [packet(b"", rail=1, ack=2, sack=5), packet(b"", rail=0, ack=3)],
        "probe-and-answer": [packet(record(ANSWER, 0, 1) + record(ANSWER, 1, RAIL_ASKED | 1232)),
                             probe, rail_probe],
        "pieces": [first, rest],
        "pieces-twice": [rest, rest, first, first, put],
        "pieces-other-length": [first, piece(1, 32, 4096, put[32:64])],
        "pieces-nested": [piece(1, 0, len(first), first)],
        "pieces-long": [piece(2, 65488, 65504, bytes(16)), piece(3, 0, 65504, bytes(1024))],
    }


def main():
    """One file for each input and fuzzer."""
    for name, packets in inputs().items():
        listed = b"".join(struct.pack(">H", len(p)) + p for p in packets)
        (HERE / "corpus" / "udp_engine" / f"seed-{name}").write_bytes(listed)
        (HERE / "corpus" / "udp_packet" / f"seed-{name}").write_bytes(packets[-1])


if __name__ == "__main__":
    main()
