import type { CoordinationStore, PrimaryStore } from '@behalf/gateway/ports';
import { attemptsSuite } from './attempts.ts';
import { cacheSuite } from './cache.ts';
import { changesSuite } from './changes.ts';
import { leasesSuite } from './leases.ts';
import type { OpenStore } from './opened.ts';
import { rawSuite } from './raw.ts';
import { serversSuite } from './servers.ts';
import { sessionsSuite } from './sessions.ts';
import { systemSuite } from './system.ts';
import { ticketsSuite } from './tickets.ts';
import { usersSuite } from './users.ts';
import { variablesSuite } from './variables.ts';

export { startOpening, type OpeningProcess } from '../processes/openingProcess.ts';
export type { OpenStore } from './opened.ts';
export { processesSuite } from './processes.ts';
export { aStoredServer } from './servers.ts';
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
  systemSuite(label, open);
  rawSuite(label, open);
  coordinationSuites(label, open, peer);
}
