import { createKeyring, systemRandom, type Keyring } from '@behalf/kernel';
import { openMemoryStore } from '@behalf/testkit/memory-store';
import { createFakeClock, type FakeClock } from '@behalf/testkit';
import type { AuditEvent } from '../src/audit/audit.ts';
import { createAuditLog, type AuditLog } from '../src/audit/auditLog.ts';
import { type FoundEvent, queryAudit } from '../src/audit/readAudit.ts';
import type { AuditSegmentRecord, AuditStore, PrimaryStore } from '../src/ports/index.ts';

/** `refuse`: nothing is written. `answer-lost`: it is, and nobody hears of it. `hold`: it waits to be let go. */
export type StoreBehavior = 'well' | 'refuse' | 'answer-lost' | 'hold';

export interface AuditRig {
  readonly clock: FakeClock;
  readonly keyring: Keyring;
  /** Always well; what the log under test sees may be not. */
  readonly store: AuditStore;
  readonly primary: PrimaryStore;
  readonly logged: { event: string; fields: object }[];
  storeBehavior: (behavior: StoreBehavior) => void;
  /** Lets go what is held, and is well again. */
  releaseHeldAppends: () => void;
  appendAttempts: () => number;
  start: (options?: { maxEvents?: number; keyring?: Keyring }) => AuditLog;
  /** In the order in which they were written, of one writer after the other. */
  segments: () => Promise<AuditSegmentRecord[]>;
  /** Everything of a tenant, oldest first. */
  events: (tenant?: string) => Promise<FoundEvent[]>;
  /** Puts a row in another's place, as somebody with the database can. Null removes it. */
  tamper: (id: string, change: Partial<AuditSegmentRecord> | null) => Promise<void>;
}

export const yieldNow = () => Promise.resolve();

export function createAuditRig(): AuditRig {
  const clock = createFakeClock();
  const random = systemRandom;
  const primary = openMemoryStore({ clock, random });
  const store = primary.audit;
  const keyring = createKeyring([new Uint8Array(32).fill(1)], random);
  const logged: AuditRig['logged'] = [];
  let storeBehavior: StoreBehavior = 'well';
  let heldAppends: (() => void)[] = [];
  let appendAttempts = 0;

  const faultyStore: AuditStore = {
    ...store,
    async append(segment) {
      appendAttempts += 1;
      if (storeBehavior === 'refuse') throw new Error('The store does not answer');
      if (storeBehavior === 'hold') await new Promise<void>((resolve) => heldAppends.push(resolve));
      await store.append(segment);
      if (storeBehavior === 'answer-lost') throw new Error('The connection broke');
    },
  };
  const segments = async () => {
    const all = await primary.raw.page('audit', null, 10_000);
    return all.sort((a, b) => (a.writer === b.writer ? a.seq - b.seq : a.firstAt - b.firstAt));
  };

  return {
    clock,
    keyring,
    store,
    primary,
    logged,
    storeBehavior: (behavior) => (storeBehavior = behavior),
    releaseHeldAppends() {
      storeBehavior = 'well';
      for (const resume of heldAppends) resume();
      heldAppends = [];
    },
    appendAttempts: () => appendAttempts,
    start: (options = {}) =>
      createAuditLog({
        ...{ store: faultyStore, keyring, clock, random },
        log: (event, fields) => void logged.push({ event, fields }),
        ...options,
      }),
    segments,
    async events(tenant = 'default') {
      const { events } = await queryAudit(
        { store, yieldToEventLoop: yieldNow },
        { tenant, filters: {}, limit: 1_000 },
      );
      return [...events].reverse() as FoundEvent[];
    },
    async tamper(id, change) {
      const foundSegment = (await segments()).find((segment) => segment.id === id);
      if (!foundSegment) throw new Error(`There is no segment ${id}`);
      await primary.raw.remove('audit', [id]);
      if (change) await primary.raw.put('audit', [{ ...foundSegment, ...change }]);
    },
  };
}

export function createCallEvent(overrides: Partial<AuditEvent> = {}): AuditEvent {
  return {
    kind: 'call',
    action: 'tool.call',
    tenant: 'default',
    actor: { kind: 'user', id: 'u1', by: 'session' },
    door: 'rest',
    outcome: 'ok',
    server: 'github',
    tool: 'search',
    arguments: ['query'],
    authority: 'exchanged',
    scopes: ['repo'],
    durationMs: 12,
    request: 'r1',
    ...overrides,
  };
}
