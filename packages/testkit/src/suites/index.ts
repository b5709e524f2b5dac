import type { CoordinationStore, PrimaryStore } from '@behalf/gateway/ports';
import { aclSuite } from './acl.ts';
import { apiKeysSuite } from './apiKeys.ts';
import { attemptsSuite } from './attempts.ts';
import { auditSuite } from './audit.ts';
import { cacheSuite } from './cache.ts';
import { changesSuite } from './changes.ts';
import { credentialsSuite } from './credentials.ts';
import { leasesSuite } from './leases.ts';
import type { OpenStore } from './opened.ts';
import { overridesSuite } from './overrides.ts';
import { rawSuite } from './raw.ts';
import { rolesSuite } from './roles.ts';
import { serversSuite } from './servers.ts';
import { sessionsSuite } from './sessions.ts';
import { systemSuite } from './system.ts';
import { ticketsSuite } from './tickets.ts';
import { usersSuite } from './users.ts';
import { variablesSuite } from './variables.ts';

export { startOpening, type OpeningProcess } from '../processes/openingProcess.ts';
export { anAclRow } from './acl.ts';
export { anApiKey } from './apiKeys.ts';
export { aSegment } from './audit.ts';
export { aCredential } from './credentials.ts';
export type { OpenStore } from './opened.ts';
export { anOverride } from './overrides.ts';
export { processesSuite } from './processes.ts';
export { aRole } from './roles.ts';
export { aStoredServer } from './servers.ts';
export { aSession } from './sessions.ts';
export { aUser } from './users.ts';
export { aVariable } from './variables.ts';

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
}

/** Every promise of a primary store. */
export function primarySuites(
  label: string,
  open: OpenStore<PrimaryStore>,
  peer?: (of: CoordinationStore) => Promise<CoordinationStore>,
): void {
  usersSuite(label, open);
  sessionsSuite(label, open);
  ticketsSuite(label, open);
  variablesSuite(label, open);
  serversSuite(label, open);
  overridesSuite(label, open);
  rolesSuite(label, open);
  aclSuite(label, open);
  apiKeysSuite(label, open);
  credentialsSuite(label, open);
  auditSuite(label, open);
  systemSuite(label, open);
  rawSuite(label, open);
  coordinationSuites(label, open, peer);
}
