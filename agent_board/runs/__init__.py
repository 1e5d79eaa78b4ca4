"""The acts (dispatch, stop, reconcile) and the shim's steps: everything that starts or signals a process."""
