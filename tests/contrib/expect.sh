# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception OR LGPL-2.1-or-later
# Function of the tests of the checks in contrib/; sourced, not run. These tests
# set script, the check, and tree, the folder that it looks at; they end with
# the exit status $failed.

failed=0

# expect STATUS TEXT: of the check of the tree.
expect() {
  local output status
  output=$(perl "$script" "$tree" 2>&1)
  status=$?
  if [ "$status" -ne "$1" ] || ! grep -qF -- "$2" <<<"$output"; then
    echo "Expected exit status $1 and \"$2\", but the check ended with" \
      "$status and said:"
    echo "$output"
    failed=1
  fi
}
