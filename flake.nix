# SPDX-License-Identifier: BSD-3-Clause
# nix build: library, headers and commands in ./result; nix develop: a shell with what building needs.
{
  description = "Communication layer for PGAS programs with the GASNet-EX API";

  inputs.nixpkgs.url = "github:NixOS/nixpkgs/nixos-24.05";

  outputs = { self, nixpkgs }:
    let
      systems = [ "x86_64-linux" "aarch64-linux" ];
      for_each = make: nixpkgs.lib.genAttrs systems (system: make nixpkgs.legacyPackages.${system});
    in
    {
      packages = for_each (pkgs: {
        default = pkgs.stdenv.mkDerivation {
          pname = "tombolo";
          version = "0.1.0";
          src = self;
          nativeBuildInputs = [ pkgs.cmake pkgs.ninja pkgs.pkg-config pkgs.python3 pkgs.clang ];
          buildInputs = [ pkgs.jansson pkgs.libpng pkgs.fftw pkgs.libfabric pkgs.libsodium ];
          cmakeFlags = [ "-DTMB_TESTS=OFF" "-DTMB_PYTHON=OFF" "-DTMB_FORTRAN=OFF" ];
          ninjaFlags = [ "programs" ];
          meta.license = pkgs.lib.licenses.bsd3;
        };
      });

      devShells = for_each (pkgs: {
        default = pkgs.mkShell {
          packages = [ pkgs.cmake pkgs.ninja pkgs.pkg-config pkgs.python3 pkgs.clang
            pkgs.jansson pkgs.libpng pkgs.fftw pkgs.libfabric pkgs.libsodium pkgs.cmocka ];
        };
      });
    };
}
