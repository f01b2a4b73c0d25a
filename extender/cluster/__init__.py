"""The cluster, as a watched API server or manifest files show it: the source of snapshots."""
