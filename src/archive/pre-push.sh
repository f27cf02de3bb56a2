#!/bin/sh
# Refuses every push from this archive except that of the public branch. Private commits
# must never leave the machine.
public=$(git rev-parse --verify --quiet refs/heads/main)
private=$(git rev-parse --verify --quiet refs/private/main)
refuse() {
	echo "pagelog: refused to push $1" >&2
	exit 1
}
while read -r local_ref local_id remote_ref remote_id; do
	if [ "$local_ref" != refs/heads/main ] || [ "$local_id" != "$public" ]; then
		refuse "$local_ref to $remote_ref: only refs/heads/main may leave this archive"
	fi
	case $remote_ref in
	refs/heads/*) ;;
	*) refuse "$local_ref to $remote_ref: it goes to a branch and nowhere else" ;;
	esac
	if [ -n "$private" ] && git merge-base "$local_id" "$private" >/dev/null; then
		refuse "$local_ref: it holds commits of refs/private/main; see 'pagelog audit'"
	fi
done
exit 0
