import type { Env } from '@behalf/contracts';
import { type SystemStore, WRITER_TTL_MS } from '@behalf/gateway/ports';
import type { Cancel, Clock, Random } from '@behalf/kernel';
import { StorageFormatError, type StoreTargets, StoreUnavailableError } from '@behalf/stores/open';
import { InvalidConfigurationError } from './configuration.ts';

/** Exit codes of sysexits.h: EX_CONFIG for an invalid configuration, EX_TEMPFAIL for a temporary failure. */
export const EXIT_CONFIG = 78;
export const EXIT_TRY_LATER = 75;

/** The gateway cannot start. The message tells the operator what to do, so no stack trace is printed. */
export class StartError extends Error {
  override readonly name = 'StartError';
  readonly exitCode: number;
  constructor(message: string, exitCode: number, cause?: unknown) {
    super(message, { cause });
    this.exitCode = exitCode;
  }
}

/** Runs a step that depends on what the operator wrote: the YAML, a key file, a certificate. */
export function runConfigurationStep<T>(step: () => T): T {
  try {
    return step();
  } catch (error) {
    if (error instanceof InvalidConfigurationError) throw new StartError(error.message, EXIT_CONFIG);
    throw new StartError(messageOf(error), EXIT_CONFIG, error);
  }
}

/** Runs a step that needs the store. A store that does not respond may recover; an unusable store needs the operator. */
export async function runStoreStep<T>(
  { mongoUri, dataDir }: StoreTargets,
  step: () => Promise<T>,
): Promise<T> {
  try {
    return await step();
  } catch (error) {
    const location = mongoUri === undefined ? `the database in ${dataDir}` : 'the MongoDB of MONGO_URI';
    if (error instanceof StoreUnavailableError) {
      throw new StartError(
        `No response from ${location}. Check that it is running and reachable, then start again.`,
        EXIT_TRY_LATER,
        error,
      );
    }
    throw new StartError(storeErrorMessage(location, error), EXIT_CONFIG, error);
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** The message of StorageFormatError already names the store. */
function storeErrorMessage(where: string, error: unknown): string {
  if (error instanceof StorageFormatError) return error.message;
  return `${where} cannot be used: ${messageOf(error)}`;
}

/** The stores that the environment selects. */
export function storeTargets(env: Env, readFile: (file: string) => string): StoreTargets {
  return {
    dataDir: env.BEHALF_DATA_DIR,
    mongoUri: env.MONGO_URI,
    redis:
      env.REDIS_URI === undefined
        ? undefined
        : {
            uri: env.REDIS_URI,
            prefix: env.REDIS_KEY_PREFIX ?? 'behalf',
            ...(env.REDIS_USERNAME !== undefined && { username: env.REDIS_USERNAME }),
            ...(env.REDIS_PASSWORD !== undefined && { password: env.REDIS_PASSWORD }),
            ...(env.REDIS_CA !== undefined && { ca: readFile(env.REDIS_CA) }),
          },
  };
}

/** Closes resources in reverse order of their creation. A failure does not prevent the others from being closed. */
export interface Disposables {
  add(close: () => Promise<void> | void): void;
  /** Idempotent. */
  disposeAll(): Promise<void>;
}

export function createDisposables(onError: (error: unknown) => void): Disposables {
  const callbacks: (() => Promise<void> | void)[] = [];
  let disposal: Promise<void> | null = null;

  async function run(): Promise<void> {
    for (const close of callbacks.splice(0).reverse()) {
      try {
        await close();
      } catch (error) {
        onError(error);
      }
    }
  }

  return {
    add: (close) => void callbacks.push(close),
    disposeAll: () => (disposal ??= run()),
  };
}

/** Runs `work` periodically, never concurrently, until it is cancelled. A failed run is ignored. */
export function setPeriodic(ms: number, clock: Clock, work: () => Promise<unknown>): Cancel {
  let isCancelled = false;
  let cancel: Cancel = () => undefined;
  const schedule = () => {
    cancel = clock.timer(ms, () => {
      work()
        .catch(() => undefined)
        .finally(() => {
          if (!isCancelled) schedule();
        });
    });
  };
  schedule();
  return () => {
    isCancelled = true;
    cancel();
  };
}

const HEARTBEAT_MS = 5_000;

/** Announces this process in the store with heartbeats, so that a copy of the store does not start while it runs. */
export interface GatewayPresence {
  /** Returns false if the store is in maintenance. The gateway must not start then. */
  begin(): Promise<boolean>;
  end(): Promise<void>;
  /** True after the store went into maintenance. */
  readonly isEvicted: () => boolean;
}

interface GatewayPresenceParts {
  system: SystemStore;
  clock: Clock;
  random: Random;
  /** The store went into maintenance after missed heartbeats. Further writes would be lost. */
  onEvicted: () => void;
}

export function createGatewayPresence({
  system,
  clock,
  random,
  onEvicted,
}: GatewayPresenceParts): GatewayPresence {
  const id = random.id();
  let cancel: Cancel = () => undefined;
  let pendingHeartbeat: Promise<void> = Promise.resolve();
  let hasEnded = false;
  let isEvicted = false;

  async function sendHeartbeat(): Promise<void> {
    try {
      if ((await system.heartbeat(id, WRITER_TTL_MS)) === 'in_maintenance') {
        if (hasEnded) return;
        isEvicted = true;
        onEvicted();
        return;
      }
    } catch {
      // Retried with the next heartbeat. `/ready` reports the outage.
    }
    if (!hasEnded) schedule();
  }

  function schedule(): void {
    cancel = clock.timer(HEARTBEAT_MS, () => {
      pendingHeartbeat = sendHeartbeat();
    });
  }

  return {
    isEvicted: () => isEvicted,
    async begin() {
      if ((await system.heartbeat(id, WRITER_TTL_MS)) === 'in_maintenance') return false;
      schedule();
      return true;
    },
    async end() {
      hasEnded = true;
      cancel();
      // A heartbeat in flight would register the process again after its removal.
      await pendingHeartbeat;
      await system.removeWriter(id);
    },
  };
}
