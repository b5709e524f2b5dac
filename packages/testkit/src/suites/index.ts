import type { CoordinationStore, PrimaryStore } from '@behalf/gateway/ports';
import { aclSuite, rolesSuite } from './access.ts';
import { apiKeysSuite, sessionsSuite, ticketsSuite, usersSuite } from './accounts.ts';
import { attemptsSuite, cacheSuite, changesSuite, leasesSuite, pendingWritesSuite } from './coordination.ts';
import { auditSuite } from './audit.ts';
import { blocksSuite, runsSuite } from './blocks.ts';
import { conversationsSuite } from './conversations.ts';
import { credentialClaimsSuite } from './credentialClaims.ts';
import { credentialUsageSuite, credentialsSuite, variablesSuite } from './credentials.ts';
import { draftsSuite, overridesSuite, serversSuite } from './servers.ts';
import { authorizationServerSuite } from './authorizationServer.ts';
import { oauthClientsSuite, oauthFlowsSuite } from './oauthFlows.ts';
import type { OpenStore } from './useStore.ts';
import { rawSuite } from './raw.ts';
import { signOutsSuite } from './signOuts.ts';
import { systemSuite } from './system.ts';

export { startOpeningProcess, type OpeningProcess } from '../processes/storeProcess.ts';
export { aCredential } from '../records.ts';
export { anAclRow } from './access.ts';
export { anApiKey } from './accounts.ts';
export { aSegment } from './audit.ts';
export { aBlock, aSet } from './blocks.ts';
export { aChatMessage, aConversation } from './conversations.ts';
export { aUsage } from './credentials.ts';
export { aDraft } from './servers.ts';
export { anAuthorizationServerRecord } from './authorizationServer.ts';
export { anOAuthClient } from './oauthFlows.ts';
export { aFlow } from './oauthFlows.ts';
export type { OpenStore } from './useStore.ts';
export { anOverride } from './servers.ts';
export { processesSuite } from './processes.ts';
export { aRole } from './access.ts';
export { aRun } from './blocks.ts';
export { aStoredServer } from './servers.ts';
export { sealRecord } from '../records.ts';
export { aSession } from './accounts.ts';
export { aUser } from './accounts.ts';
export { aVariable } from './credentials.ts';
export { vaultProcessesSuite } from './processes.ts';

/** All contract suites of a coordination store. */
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

/** All contract suites of a primary store. */
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
