import { audit } from './requirements/audit.ts';
import { access } from './requirements/access.ts';
import { blocks } from './requirements/blocks.ts';
import { catalog } from './requirements/catalog.ts';
import { chat } from './requirements/chat.ts';
import { cli } from './requirements/cli.ts';
import { configure } from './requirements/configure.ts';
import { conformance } from './requirements/conformance.ts';
import { connections } from './requirements/connections.ts';
import { conversations } from './requirements/conversations.ts';
import { devidp } from './requirements/devidp.ts';
import { oboDevidp } from './requirements/oboDevidp.ts';
import { drafts } from './requirements/drafts.ts';
import { dpop } from './requirements/dpop.ts';
import { egress } from './requirements/egress.ts';
import { flow } from './requirements/flow.ts';
import { foundation } from './requirements/foundation.ts';
import { facade } from './requirements/facade.ts';
import { http } from './requirements/http.ts';
import { idJag } from './requirements/idJag.ts';
import { identity } from './requirements/identity.ts';
import { kernel } from './requirements/kernel.ts';
import { live } from './requirements/live.ts';
import { mcpDoor } from './requirements/mcpDoor.ts';
import { mcpEdge } from './requirements/mcpEdge.ts';
import { mcpStreams } from './requirements/mcpStreams.ts';
import { mcpSearch } from './requirements/mcpSearch.ts';
import { mcpNames } from './requirements/mcpNames.ts';
import { obo } from './requirements/obo.ts';
import { oboSubject } from './requirements/oboSubject.ts';
import { oboInjection } from './requirements/oboInjection.ts';
import { oboAttackers } from './requirements/oboAttackers.ts';
import { oboAuthor } from './requirements/oboAuthor.ts';
import { oboCa } from './requirements/oboCa.ts';
import { oboTargets } from './requirements/oboTargets.ts';
import { oboFaults } from './requirements/oboFaults.ts';
import { oboScenarios } from './requirements/oboScenarios.ts';
import { openid } from './requirements/openid.ts';
import { oboProviders } from './requirements/oboProviders.ts';
import { policy } from './requirements/policy.ts';
import { recovery } from './requirements/recovery.ts';
import { registry } from './requirements/registry.ts';
import { reinit } from './requirements/reinit.ts';
import { between } from './requirements/between.ts';
import { relay } from './requirements/relay.ts';
import { rest } from './requirements/rest.ts';
import { secrecy } from './requirements/secrecy.ts';
import { scenarios } from './requirements/scenarios.ts';
import { seeds } from './requirements/seeds.ts';
import { sets } from './requirements/sets.ts';
import { settings } from './requirements/settings.ts';
import { stores } from './requirements/stores.ts';
import { tasks } from './requirements/tasks.ts';
import { toolcall } from './requirements/toolcall.ts';
import { ui } from './requirements/ui.ts';
import { uiServers } from './requirements/uiServers.ts';
import { upstream } from './requirements/upstream.ts';
import { vault } from './requirements/vault.ts';
import { vaultStores } from './requirements/vaultStores.ts';
import { vaultProcesses } from './requirements/vaultProcesses.ts';
import { web } from './requirements/web.ts';
import { webAdd } from './requirements/webAdd.ts';
import { webAdmin } from './requirements/webAdmin.ts';
import { webBlocks } from './requirements/webBlocks.ts';
import { webChat } from './requirements/webChat.ts';
import { webConnect } from './requirements/webConnect.ts';
import { webSets } from './requirements/webSets.ts';
import { webTools } from './requirements/webTools.ts';
import { oboExchanger } from './requirements/oboExchanger.ts';

/** `done`: kept by at least one test, its own or that of the promises named in `by`. `planned`: promised, not yet built. */
export type Requirement = readonly [status: 'done' | 'planned', promise: string, by?: readonly string[]];

/** Every behaviour Behalf promises, by id. One file per area; test/requirements.test.ts holds them to account. */
export const requirements: Readonly<Record<string, Requirement>> = {
  ...recovery,
  ...mcpEdge,
  ...mcpStreams,
  ...mcpSearch,
  ...mcpNames,
  ...facade,
  ...seeds,
  ...kernel,
  ...conformance,
  ...live,
  ...idJag,
  ...mcpDoor,
  ...identity,
  ...oboScenarios,
  ...oboFaults,
  ...obo,
  ...access,
  ...oboInjection,
  ...oboAttackers,
  ...oboAuthor,
  ...oboCa,
  ...oboTargets,
  ...openid,
  ...oboSubject,
  ...ui,
  ...uiServers,
  ...upstream,
  ...vault,
  ...vaultStores,
  ...http,
  ...connections,
  ...between,
  ...relay,
  ...blocks,
  ...configure,
  ...conversations,
  ...registry,
  ...catalog,
  ...chat,
  ...cli,
  ...tasks,
  ...toolcall,
  ...oboProviders,
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
  ...sets,
  ...settings,
  ...stores,
  ...oboExchanger,
  ...foundation,
  ...flow,
  ...vaultProcesses,
  ...web,
  ...webAdd,
  ...webAdmin,
  ...webBlocks,
  ...webChat,
  ...webConnect,
  ...webSets,
  ...webTools,
};
