import { systemDial, systemLocalAddresses, systemResolve } from '@behalf/egress';
import { createKeyring, systemClock, systemRandom } from '@behalf/kernel';
import { loadSettings } from '@behalf/settings';
import { createNetwork, type ReloadableNetwork } from '../../api/src/runtime/network.ts';

const MAX_BYTES = 5 * 1024 * 1024;
const FIRST_PORT = 1_024;
const LAST_PORT = 65_535;

/** The real door out. Where the suite's authorization servers listen is not known beforehand: all of `localhost` is open. */
export function createOpenNetwork(): ReloadableNetwork {
  const ports = Array.from({ length: LAST_PORT - FIRST_PORT + 1 }, (_, index) => FIRST_PORT + index);
  const loadResult = loadSettings('{}', { env: {} });
  if (!loadResult.ok) throw new Error(JSON.stringify(loadResult.diagnostics));
  // Also to whomever its servers name: the operator could write none of them down.
  const allowedAddresses = ports.map((port) => `localhost:${port}`);
  const { settings } = loadResult;
  return createNetwork({
    settings: { ...settings, mcpSettings: { ...settings.mcpSettings, allowedAddresses } },
    env: {},
    limits: { bodyBytes: MAX_BYTES, sseLineBytes: MAX_BYTES },
    identityOrigins: [],
    resolve: systemResolve,
    dial: systemDial,
    clock: systemClock,
    keyring: createKeyring([systemRandom.bytes(32)], systemRandom),
    ownEndpoints: () => ({ origins: [], listeners: [], localAddresses: systemLocalAddresses }),
  });
}
