// The operations of the contract module. This file needs no change.
package main

var hello = object{"implementation": about, "capabilities": capabilities}

const fields = "module_id input enabled timeout_ms extensions_root extensions_root_b64"

var operations = map[string]operation{"module.execute": {moduleExecute, fields, startsAChild}}
