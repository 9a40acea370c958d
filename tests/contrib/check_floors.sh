#!/bin/bash
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
#
# contrib/check_floors.pl finds what it is for: in a small tree, each mistake
# alone makes it fail and is named.
#
#   check_floors.sh PROJECT WORK_FOLDER

set -u
source "$(dirname "$0")/expect.sh"
script=$1/contrib/check_floors.pl
tree=$2

# Two floors, a folder each side by side on the lower one.
make_tree() {
  rm -rf "$tree"
  mkdir -p "$tree"/{doc,include/tessella/{low,beside,high},source/high}
  cat >"$tree/doc/architecture.md" <<'X'
| floor | folders | subject |
| --- | --- | --- |
| 1 | `include/tessella/low`, `include/tessella/beside` | bottom |
| 2 | `include/tessella/high`, `source/high` | top |
X
  touch "$tree"/include/tessella/{low/a.h,low/b.h,beside/c.h,high/d.h}
  echo '#include <tessella/low/a.h>' >"$tree/include/tessella/beside/c.h"
  echo '#include <tessella/beside/c.h>' >"$tree/include/tessella/high/d.h"
  printf '#include <tessella/high/d.h>\n#include "e.h"\n' \
    >"$tree/source/high/d.cc"
  touch "$tree/source/high/e.h"
}

make_tree
expect 0 "6 files, 4 includes, 0 problems"

echo '#include <tessella/high/d.h>' >"$tree/include/tessella/low/a.h"
expect 1 "include/tessella/low/a.h:1: floor 1 (low) includes include/tessella/high/d.h of floor 2 (high)."

make_tree
echo '#include "../../../source/high/e.h"' >"$tree/include/tessella/low/b.h"
expect 1 "include/tessella/low/b.h:1: floor 1 (low) includes source/high/e.h of floor 2 (high)."

make_tree
echo '#include <tessella/beside/c.h>' >"$tree/include/tessella/low/b.h"
expect 1 "Circle of folders: beside -> low -> beside"

make_tree
echo '#  include <tessella/low/b.h>' >"$tree/include/tessella/low/a.h"
echo '#include <tessella/low/a.h>' >"$tree/include/tessella/low/b.h"
expect 1 "Circle of headers: include/tessella/low/a.h -> include/tessella/low/b.h -> include/tessella/low/a.h"

make_tree
mkdir "$tree/source/elsewhere"
touch "$tree/source/elsewhere/f.cc"
expect 1 "source/elsewhere/f.cc lies in no folder of doc/architecture.md."

make_tree
rm -r "$tree/source/high"
expect 1 "there is no folder source/high."

make_tree
echo '#include "gone.h"' >>"$tree/source/high/d.cc"
expect 1 "source/high/d.cc:3: there is no source/high/gone.h."

exit $failed
