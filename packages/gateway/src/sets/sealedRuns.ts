import { StoredRun } from '@behalf/contracts';
import { SealError, type Keyring } from '@behalf/kernel';
import { GatewayError } from '../errors/gatewayError.ts';
import {
  toRunSealContext,
  toRunTitleSealContext,
  type RunMetadata,
  type RunRecord,
  type RunStore,
} from '../ports/index.ts';
import type { Log } from '../upstream/parts.ts';
import { MAX_STORED_RUNS, MAX_ACTIVE_RUNS } from './limits.ts';

/** A run with its steps. */
export interface SetRun extends Omit<RunRecord, 'sealed' | 'titleSealed'>, StoredRun {}

export type RunOverview = Omit<SetRun, 'steps' | 'request'>;

/** The runs of people, each opened for who ran it and nobody else. One that does not open is not there. */
export interface SealedRuns {
  find(tenant: string, userId: string, id: string): Promise<SetRun | null>;
  /** How it stands now, without opening it. */
  findMetadata(tenant: string, userId: string, id: string): Promise<RunMetadata | null>;
  /** The latest first. */
  list(tenant: string, userId: string, setId: string): Promise<RunOverview[]>;
  /** This user's that stand as running, without opening them. */
  listRunning(tenant: string, userId: string): Promise<RunMetadata[]>;
  /** RUN_LIMIT when its user has too many under way. The oldest that ended make room. */
  insert(run: SetRun): Promise<void>;
  /** With the version that it has then; null when somebody else wrote it, or it is gone. */
  replace(run: SetRun): Promise<SetRun | null>;
  sweep(now: number): Promise<number>;
}

export function createSealedRuns(parts: {
  readonly store: RunStore;
  readonly keyring: Keyring;
  readonly log: Log;
}): SealedRuns {
  const { store, keyring, log } = parts;

  function seal(run: SetRun): RunRecord {
    const { title, steps, request, ...record } = run;
    const content = StoredRun.parse({ title, steps, request });
    return {
      ...record,
      titleSealed: keyring.seal(JSON.stringify(title), toRunTitleSealContext(run)),
      sealed: keyring.seal(JSON.stringify(content), toRunSealContext(run)),
    };
  }

  /** Null, and a line in the log, for what does not open or is not what we sealed. */
  function tryOpen<T>({ id, userId }: RunMetadata, work: () => T): T | null {
    try {
      return work();
    } catch (error) {
      const reason = error instanceof SealError ? error.reason : 'unreadable';
      log('run_unreadable', { run: id, user: userId, reason });
      return null;
    }
  }

  return {
    async find(tenant, userId, id) {
      const stored = await store.find(tenant, userId, id);
      if (!stored) return null;
      const { sealed, titleSealed: _title, ...record } = stored;
      return tryOpen(stored, () => ({
        ...record,
        ...StoredRun.parse(JSON.parse(keyring.open(sealed, toRunSealContext(stored)))),
      }));
    },
    findMetadata: (tenant, userId, id) => store.findMetadata(tenant, userId, id),
    async list(tenant, userId, setId) {
      return (await store.list(tenant, userId, setId)).flatMap((metadata) => {
        const { titleSealed, ...record } = metadata;
        const title = tryOpen(
          metadata,
          () => JSON.parse(keyring.open(titleSealed, toRunTitleSealContext(metadata))) as string,
        );
        return title === null ? [] : [{ ...record, title }];
      });
    },
    listRunning: (tenant, userId) => store.listRunning(tenant, userId),
    async insert(run) {
      if ((await store.insert(seal(run), MAX_ACTIVE_RUNS)) === 'full') throw new GatewayError('RUN_LIMIT');
      await store.prune(run.tenant, run.userId, MAX_STORED_RUNS);
    },
    async replace(run) {
      const next = { ...run, version: run.version + 1 };
      return (await store.replace(seal(next), run.version)) === 'replaced' ? next : null;
    },
    sweep: (now) => store.removeExpired(now),
  };
}
