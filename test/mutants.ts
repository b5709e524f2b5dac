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
import { oboDevidp } from './mutants/oboDevidp.ts';
import { egress } from './mutants/egress.ts';
import { egressSend } from './mutants/egressSend.ts';
import { foundation } from './mutants/foundation.ts';
import { http } from './mutants/http.ts';
import { identity } from './mutants/identity.ts';
import { kernel } from './mutants/kernel.ts';
import { oboSubject } from './mutants/oboSubject.ts';
import { oboFaults } from './mutants/oboFaults.ts';
import { oboInjection } from './mutants/oboInjection.ts';
import { obo } from './mutants/obo.ts';
import { oboAttackers } from './mutants/oboAttackers.ts';
import { oboAuthor } from './mutants/oboAuthor.ts';
import { oboCa } from './mutants/oboCa.ts';
import { oboTargets } from './mutants/oboTargets.ts';
import { oboScenarios } from './mutants/oboScenarios.ts';
import { openid } from './mutants/openid.ts';
import { openidLogin } from './mutants/openidLogin.ts';
import { overrides } from './mutants/overrides.ts';
import { oboProviders } from './mutants/oboProviders.ts';
import { oboProvidersAnswers } from './mutants/oboProvidersAnswers.ts';
import { oboProvidersChoice } from './mutants/oboProvidersChoice.ts';
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
import { oboExchanger } from './mutants/oboExchanger.ts';
import { oboExchangerFaults } from './mutants/oboExchangerFaults.ts';

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
  ...oboInjection,
  ...oboFaults,
  ...obo,
  ...oboAttackers,
  ...oboAuthor,
  ...oboCa,
  ...oboTargets,
  ...oboScenarios,
  ...openid,
  ...oboSubject,
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
  ...oboProviders,
  ...oboProvidersAnswers,
  ...oboProvidersChoice,
  ...policy,
  ...audit,
  ...reinit,
  ...rest,
  ...secrecy,
  ...devidp,
  ...oboDevidp,
  ...scenarios,
  ...egress,
  ...egressSend,
  ...settings,
  ...stores,
  ...accessStores,
  ...sqliteRedis,
  ...oboExchanger,
  ...oboExchangerFaults,
  ...foundation,
];
