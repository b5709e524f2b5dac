import { access } from './mutants/access.ts';
import { accessChanges } from './mutants/accessChanges.ts';
import { accessStores } from './mutants/accessStores.ts';
import { argumentChecks } from './mutants/arguments.ts';
import { audit } from './mutants/audit.ts';
import { blocks } from './mutants/blocks.ts';
import { sets } from './mutants/sets.ts';
import { catalog } from './mutants/catalog.ts';
import { channel } from './mutants/channel.ts';
import { chat } from './mutants/chat.ts';
import { cli } from './mutants/cli.ts';
import { configure } from './mutants/configure.ts';
import { conformance } from './mutants/conformance.ts';
import { connections } from './mutants/connections.ts';
import { between } from './mutants/between.ts';
import { relay } from './mutants/relay.ts';
import { conversations } from './mutants/conversations.ts';
import { devidp } from './mutants/devidp.ts';
import { oboDevidp } from './mutants/oboDevidp.ts';
import { drafts } from './mutants/drafts.ts';
import { dpop } from './mutants/dpop.ts';
import { egress } from './mutants/egress.ts';
import { egressSend } from './mutants/egressSend.ts';
import { flow } from './mutants/flow.ts';
import { flowGuards } from './mutants/flowGuards.ts';
import { flowGrants } from './mutants/flowGrants.ts';
import { flowRules } from './mutants/flowRules.ts';
import { foundation } from './mutants/foundation.ts';
import { facade } from './mutants/facade.ts';
import { facadeLimits } from './mutants/facadeLimits.ts';
import { facadeIdJag } from './mutants/facadeIdJag.ts';
import { facadeKeys } from './mutants/facadeKeys.ts';
import { http } from './mutants/http.ts';
import { idJag } from './mutants/idJag.ts';
import { identity } from './mutants/identity.ts';
import { kernel } from './mutants/kernel.ts';
import { listings } from './mutants/listings.ts';
import { live } from './mutants/live.ts';
import { mcpDoor } from './mutants/mcpDoor.ts';
import { oboSubject } from './mutants/oboSubject.ts';
import { oboFaults } from './mutants/oboFaults.ts';
import { oboInjection } from './mutants/oboInjection.ts';
import { mcpEdge } from './mutants/mcpEdge.ts';
import { mcpStreams } from './mutants/mcpStreams.ts';
import { mcpSearch } from './mutants/mcpSearch.ts';
import { mcpNames } from './mutants/mcpNames.ts';
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
import { recovery } from './mutants/recovery.ts';
import { registry } from './mutants/registry.ts';
import { reinit } from './mutants/reinit.ts';
import { rest } from './mutants/rest.ts';
import { scenarios } from './mutants/scenarios.ts';
import { secrecy } from './mutants/secrecy.ts';
import { settings } from './mutants/settings.ts';
import { signOuts } from './mutants/signOuts.ts';
import { sqliteRedis } from './mutants/sqliteRedis.ts';
import { stores } from './mutants/stores.ts';
import { tasks } from './mutants/tasks.ts';
import { toolcall } from './mutants/toolcall.ts';
import { uiServers } from './mutants/uiServers.ts';
import { upstream } from './mutants/upstream.ts';
import { vault } from './mutants/vault.ts';
import { vaultCases } from './mutants/vaultCases.ts';
import { vaultEndpoint } from './mutants/vaultEndpoint.ts';
import { vaultKeeping } from './mutants/vaultKeeping.ts';
import { vaultStores } from './mutants/vaultStores.ts';
import { ui } from './mutants/ui.ts';
import { vaultProcesses } from './mutants/vaultProcesses.ts';
import { web } from './mutants/web.ts';
import { webAdmin } from './mutants/webAdmin.ts';
import { webBlocks } from './mutants/webBlocks.ts';
import { webChat } from './mutants/webChat.ts';
import { webConnect } from './mutants/webConnect.ts';
import { webTools } from './mutants/webTools.ts';
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
  ...recovery,
  ...kernel,
  ...listings,
  ...live,
  ...idJag,
  ...mcpDoor,
  ...identity,
  ...signOuts,
  ...mcpEdge,
  ...mcpStreams,
  ...mcpSearch,
  ...mcpNames,
  ...facade,
  ...facadeLimits,
  ...facadeIdJag,
  ...facadeKeys,
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
  ...ui,
  ...uiServers,
  ...upstream,
  ...vault,
  ...vaultCases,
  ...vaultEndpoint,
  ...vaultKeeping,
  ...vaultStores,
  ...channel,
  ...chat,
  ...cli,
  ...http,
  ...conformance,
  ...connections,
  ...between,
  ...relay,
  ...blocks,
  ...sets,
  ...configure,
  ...conversations,
  ...overrides,
  ...registry,
  ...argumentChecks,
  ...catalog,
  ...tasks,
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
  ...drafts,
  ...dpop,
  ...egress,
  ...egressSend,
  ...settings,
  ...stores,
  ...accessStores,
  ...sqliteRedis,
  ...oboExchanger,
  ...oboExchangerFaults,
  ...foundation,
  ...flow,
  ...flowGuards,
  ...flowGrants,
  ...flowRules,
  ...vaultProcesses,
  ...web,
  ...webAdmin,
  ...webBlocks,
  ...webChat,
  ...webConnect,
  ...webTools,
];
