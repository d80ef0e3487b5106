# SPDX-License-Identifier: BSD-3-Clause
#
# part_rows.py: the rows of the report's tables, from the JSON that the parts of the study write.
#
# Called by study.py, a function a part. A row is (what, {side: (median, unit, least, most)}, ratio
# or None, target or None, whether it is met or None).
import statistics


def side(value, unit, samples=()):
    """(median, unit, least, most)"""
    return value, unit, min(samples, default=value), max(samples, default=value)


def of_bench(data):
    """Figures of `tombolo bench` that have a target."""
    for f in data["figures"]:
        if f["target"] is None:
            continue
        name = f"{f['group']} {f['name']}" + (f", {f['bytes']} B" if f["bytes"] else "")
        sides = {"tombolo": (f["median"], f["unit"], f["min"], f["max"])}
        if f["floor_median"] is not None:
            sides[f["floor"] or "floor"] = side(f["floor_median"], f["unit"], [f["floor_min"]])
        yield name, sides, f["ratio"], f["target"], f["ok"]


def of_coll(data):
    for r in data["records"]:
        samples = r.get("samples", {})
        yield (f"{r['collective']}, {r['bytes']} B",
               {s: side(v, "us", samples.get(s, ())) for s, v in r["us"].items()},
               r["ratio"], r["target"], r["ok"])


def of_app(data):
    for r in data["records"]:
        sides = {name: side(statistics.median(values), "M/s", values)
                 for name, values in r["mflops"].items()}
        met = r["ratio"] >= r["target"] if r["ratio"] else None
        yield app_name(r), sides, r["ratio"], r["target"], met


def app_name(record):
    """An application and its problem, with computing alone over the best peer (targets.py reads
    it)."""
    bound = f", computing alone {record['bound']:.2f}" if record.get("bound") else ""
    return f"{record['application']} {record['problem']}{bound}"


def of_caf(data):
    for r in data["records"]:
        sides = {name: side(statistics.median(values), "ms", values)
                 for name, values in r["ms"].items()}
        met = r["ratio"] <= r["target"] if r["ratio"] else None
        yield app_name(r), sides, r["ratio"], r["target"], met


def of_net(data):
    for r in data["records"]:
        met = r["ratio"] <= r["target"] if r["ratio"] and r["target"] else None
        samples = r.get("samples", {})
        yield (f"{r['name']}, {r['bytes']} B",
               {s: side(v, "us", samples.get(s, ())) for s, v in r["us"].items()},
               r["ratio"], r["target"], met)


def of_cell(data):
    for r in data["records"]:
        if r["ours"] is not None:
            sides = {"tombolo": side(r["ours"], r["unit"])}
            sides |= {"peer": side(r["peer"], r["unit"])} if r["peer"] is not None else {}
            yield r["what"], sides, r["found"], r["wanted"], r["met"]


def of_ft(data, far=False):
    """far: on several hosts, where rows have targets."""
    samples = data.get("seconds", {})
    sides = {way: side(value, "s", samples.get(way, ())) for way, value in data["records"].items()}
    if sides:
        yield "NAS FT", sides, None, None, None
    best = min((v for way, v in data["records"].items() if way.startswith("tombolo")), default=None)
    slabs, packed = (data["records"].get(f"tombolo {w}") for w in ("slabs", "packed"))
    mpi = data["records"].get("openmpi alltoall")
    if slabs and packed:
        yield ("slabs over packed", {}, packed / slabs,
               *((1.2, packed / slabs >= 1.2) if far else (None, None)))
    if best and mpi:
        yield ("our best over Open MPI's MPI_Alltoall", {}, mpi / best,
               *((1.4, mpi / best >= 1.4) if far else (None, None)))


def measured(r):
    unit = "" if r["name"].endswith("overlap") else "us"
    return {s: (v[0], unit, v[1], v[2]) for s, v in r["sides"].items()}


def of_ops(data):
    for r in data["records"]:
        place = f", {r['place']}" if "place" in r else ""
        yield f"{r['name']}, {r['bytes']} B{place}", measured(r), None, None, None


def of_forms(data):
    for job in data["jobs"]:
        for r in job["records"]:
            size = f", {r['bytes']} B" if r["bytes"] else ""
            yield f"{r['name']}{size}, {job['ranks']} ranks", measured(r), None, None, None


def of_scaling(data):
    for r in data["records"]:
        ms = [1e3 * v for v in r["values"]]
        name = f"{r['panel']}, {r['ranks']} ranks"
        if r.get("unit"):
            yield name, {r["line"]: side(statistics.median(r["values"]), r["unit"],
                                         r["values"])}, None, None, None
        else:
            yield name, {r["line"]: side(statistics.median(ms), "ms", ms)}, None, None, None


def of_silent(data):
    for r in data["records"]:
        yield (r["operation"], {f"conduit {r['conduit']}": side(statistics.median(r["us"]), "us",
                                                                r["us"])}, None, None, None)


def of_diagram(data):
    for r in data["records"]:
        yield r["title"], {way: side(100 * part, "%") for way, part in r["shares"].items()}, \
            None, None, None


def of_rails(data):
    for r in data["records"]:
        rates = [v / 1e6 for v in r["values"]]
        yield (f"{r['panel']}, {r['bytes']} B", {
            r["line"]: side(statistics.median(rates), "MB/s", rates)}, None, None, None)


def of_sim(data):
    for r in data["records"]:
        if r["simulated"]:
            yield (r["what"], {"tombolo (simulated)": side(r["simulated"], r["unit"], ()),
                               "published": side(r["published"], r["unit"], ())},
                   r["simulated"] / r["published"], None, None)
