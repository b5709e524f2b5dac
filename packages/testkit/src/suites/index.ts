import type { CoordinationStore, PrimaryStore } from '@behalf/gateway/ports';
import { aclSuite } from './acl.ts';
import { apiKeysSuite } from './apiKeys.ts';
import { attemptsSuite } from './attempts.ts';
import { auditSuite } from './audit.ts';
import { blocksSuite } from './blocks.ts';
import { cacheSuite } from './cache.ts';
import { changesSuite } from './changes.ts';
import { conversationsSuite } from './conversations.ts';
import { credentialClaimsSuite } from './credentialClaims.ts';
import { credentialsSuite } from './credentials.ts';
import { credentialUsageSuite } from './credentialUsage.ts';
import { draftsSuite } from './drafts.ts';
import { authorizationServerSuite } from './authorizationServer.ts';
import { leasesSuite } from './leases.ts';
import { oauthClientsSuite } from './oauthClients.ts';
import { oauthFlowsSuite } from './oauthFlows.ts';
import type { OpenStore } from './useStore.ts';
import { pendingWritesSuite } from './pendingWrites.ts';
import { overridesSuite } from './overrides.ts';
import { rawSuite } from './raw.ts';
import { rolesSuite } from './roles.ts';
import { runsSuite } from './runs.ts';
import { serversSuite } from './servers.ts';
import { sessionsSuite } from './sessions.ts';
import { signOutsSuite } from './signOuts.ts';
import { systemSuite } from './system.ts';
import { ticketsSuite } from './tickets.ts';
import { usersSuite } from './users.ts';
import { variablesSuite } from './variables.ts';

export { startOpeningProcess, type OpeningProcess } from '../processes/openingProcess.ts';
export { aCredential } from './aCredential.ts';
export { anAclRow } from './acl.ts';
export { anApiKey } from './apiKeys.ts';
export { aSegment } from './audit.ts';
export { aBlock, aSet } from './blocks.ts';
export { aChatMessage, aConversation } from './conversations.ts';
export { aUsage } from './credentialUsage.ts';
export { aDraft } from './drafts.ts';
export { anAuthorizationServerRecord } from './authorizationServer.ts';
export { anOAuthClient } from './oauthClients.ts';
export { aFlow } from './oauthFlows.ts';
export type { OpenStore } from './useStore.ts';
export { anOverride } from './overrides.ts';
export { processesSuite } from './processes.ts';
export { aRole } from './roles.ts';
export { aRun } from './runs.ts';
export { aStoredServer } from './servers.ts';
export { sealRecord } from './sealRecord.ts';
export { aSession } from './sessions.ts';
export { aUser } from './users.ts';
export { aVariable } from './variables.ts';
export { vaultProcessesSuite } from './vaultProcesses.ts';

/** Every promise of a store that coordinates processes. */
export function coordinationSuites(
  label: string,
  open: OpenStore<CoordinationStore>,
  peer?: (of: CoordinationStore) => Promise<CoordinationStore>,
): void {
  leasesSuite(label, open);
  attemptsSuite(label, open);
  changesSuite(label, open, peer);
  cacheSuite(label, open);
  pendingWritesSuite(label, open, peer);
}

/** Every promise of a primary store. */
export function primarySuites(
  label: string,
  open: OpenStore<PrimaryStore>,
  peer?: (of: CoordinationStore) => Promise<CoordinationStore>,
): void {
  usersSuite(label, open);
  sessionsSuite(label, open);
  signOutsSuite(label, open);
  ticketsSuite(label, open);
  variablesSuite(label, open);
  serversSuite(label, open);
  overridesSuite(label, open);
  rolesSuite(label, open);
  aclSuite(label, open);
  apiKeysSuite(label, open);
  credentialsSuite(label, open);
  credentialClaimsSuite(label, open);
  credentialUsageSuite(label, open);
  oauthClientsSuite(label, open);
  oauthFlowsSuite(label, open);
  draftsSuite(label, open);
  conversationsSuite(label, open);
  blocksSuite(label, open);
  runsSuite(label, open);
  authorizationServerSuite(label, open);
  auditSuite(label, open);
  systemSuite(label, open);
  rawSuite(label, open);
  coordinationSuites(label, open, peer);
}
