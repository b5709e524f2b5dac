import { KeptRun } from '@behalf/contracts';
import { SealError, type Keyring } from '@behalf/kernel';
import { GatewayError } from '../errors/gatewayError.ts';
import { runContext, runTitleContext, type RunHead, type RunRecord, type RunStore } from '../ports/index.ts';
import type { Log } from '../upstream/parts.ts';
import { MOST_KEPT_RUNS, MOST_RUNNING } from './limits.ts';

/** A run with its steps. */
export interface Run extends Omit<RunRecord, 'sealed' | 'titleSealed'>, KeptRun {}

export type RunOverview = Omit<Run, 'steps' | 'request'>;

/** The runs of people, each opened for who ran it and nobody else. One that does not open is not there. */
export interface Runs {
  find(tenant: string, userId: string, id: string): Promise<Run | null>;
  /** How it stands now, without opening it. */
  head(tenant: string, userId: string, id: string): Promise<RunHead | null>;
  /** The latest first. */
  list(tenant: string, userId: string, setId: string): Promise<RunOverview[]>;
  /** This user's that stand as running, without opening them. */
  running(tenant: string, userId: string): Promise<RunHead[]>;
  /** RUN_LIMIT when its user has too many under way. The oldest that ended make room. */
  insert(run: Run): Promise<void>;
  /** With the version that it has then; null when somebody else wrote it, or it is gone. */
  replace(run: Run): Promise<Run | null>;
  sweep(now: number): Promise<number>;
}

export function createRuns(parts: {
  readonly store: RunStore;
  readonly keyring: Keyring;
  readonly log: Log;
}): Runs {
  const { store, keyring, log } = parts;

  function seal(run: Run): RunRecord {
    const { title, steps, request, ...record } = run;
    const kept = KeptRun.parse({ title, steps, request });
    return {
      ...record,
      titleSealed: keyring.seal(JSON.stringify(title), runTitleContext(run)),
      sealed: keyring.seal(JSON.stringify(kept), runContext(run)),
    };
  }

  /** Null, and a line in the log, for what does not open or is not what we sealed. */
  function opened<T>({ id, userId }: RunHead, work: () => T): T | null {
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
      const found = await store.find(tenant, userId, id);
      if (!found) return null;
      const { sealed, titleSealed: _title, ...record } = found;
      return opened(found, () => ({
        ...record,
        ...KeptRun.parse(JSON.parse(keyring.open(sealed, runContext(found)))),
      }));
    },
    head: (tenant, userId, id) => store.head(tenant, userId, id),
    async list(tenant, userId, setId) {
      return (await store.list(tenant, userId, setId)).flatMap((head) => {
        const { titleSealed, ...record } = head;
        const title = opened(
          head,
          () => JSON.parse(keyring.open(titleSealed, runTitleContext(head))) as string,
        );
        return title === null ? [] : [{ ...record, title }];
      });
    },
    running: (tenant, userId) => store.running(tenant, userId),
    async insert(run) {
      if ((await store.insert(seal(run), MOST_RUNNING)) === 'full') throw new GatewayError('RUN_LIMIT');
      await store.prune(run.tenant, run.userId, MOST_KEPT_RUNS);
    },
    async replace(run) {
      const next = { ...run, version: run.version + 1 };
      return (await store.replace(seal(next), run.version)) === 'replaced' ? next : null;
    },
    sweep: (now) => store.removeExpired(now),
  };
}
