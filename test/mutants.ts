import { access } from './mutants/access.ts';
import { accessChanges } from './mutants/accessChanges.ts';
import { accessStores } from './mutants/accessStores.ts';
import { argumentChecks } from './mutants/arguments.ts';
import { audit } from './mutants/audit.ts';
import { catalog } from './mutants/catalog.ts';
import { channel } from './mutants/channel.ts';
import { configure } from './mutants/configure.ts';
import { connections } from './mutants/connections.ts';
import { devidp } from './mutants/devidp.ts';
import { egress } from './mutants/egress.ts';
import { egressSend } from './mutants/egressSend.ts';
import { foundation } from './mutants/foundation.ts';
import { http } from './mutants/http.ts';
import { identity } from './mutants/identity.ts';
import { kernel } from './mutants/kernel.ts';
import { openid } from './mutants/openid.ts';
import { openidLogin } from './mutants/openidLogin.ts';
import { overrides } from './mutants/overrides.ts';
import { policy } from './mutants/policy.ts';
import { registry } from './mutants/registry.ts';
import { reinit } from './mutants/reinit.ts';
import { rest } from './mutants/rest.ts';
import { scenarios } from './mutants/scenarios.ts';
import { secrecy } from './mutants/secrecy.ts';
import { settings } from './mutants/settings.ts';
import { sqliteRedis } from './mutants/sqliteRedis.ts';
import { stores } from './mutants/stores.ts';
import { toolcall } from './mutants/toolcall.ts';
import { upstream } from './mutants/upstream.ts';

/** A one-line change to the code that must turn the tests of `id` red. `find` occurs exactly once in `file`. */
export interface Mutant {
  id: string;
  file: string;
  find: string;
  replace: string;
}

/** What proves that the tests of a security or race promise can fail. One file per area. */
export const mutants: readonly Mutant[] = [
  ...kernel,
  ...identity,
  ...access,
  ...accessChanges,
  ...openid,
  ...openidLogin,
  ...upstream,
  ...channel,
  ...http,
  ...connections,
  ...configure,
  ...overrides,
  ...registry,
  ...argumentChecks,
  ...catalog,
  ...toolcall,
  ...policy,
  ...audit,
  ...reinit,
  ...rest,
  ...secrecy,
  ...devidp,
  ...scenarios,
  ...egress,
  ...egressSend,
  ...settings,
  ...stores,
  ...accessStores,
  ...sqliteRedis,
  ...foundation,
];
