import { describeWith, startRedisServer, type RedisServer } from '@behalf/testkit';
import {
  createVaultPool,
  createVaultProcessRig,
  type VaultProcess,
  type VaultProcessRig,
  type VaultProcessRigOptions,
} from '@behalf/testkit/vault';
import { afterAll, afterEach, beforeAll, describe } from '@jest/globals';

/** The vault's chain of times, about a tenth of the real one, for who has to wait for the end of one of them. */
export const faultTimings = {
  postMs: 1_500,
  sendWithinMs: 500,
  claimMs: 2_500,
  leaseMs: 3_000,
  leaseRenewMs: 1_000,
  waitMs: 8_000,
  pollMs: 20,
  holdMs: 5_000,
  sharedMs: 500,
  backoffMs: 100,
  longestBackoffMs: 1_000,
  closeMs: 5_000,
};

/** Nothing is renewed ahead of its end: every token request is one that a test asked for. */
const withoutEarlyRefresh = { shortestEarlyMs: 24 * 3_600_000 };

/** Access tokens of the stage live so long: past it, everybody has to renew. */
export const TOKEN_LIFETIME_MS = 3_600_000;

export interface VaultBackendRig {
  readonly name: 'SQLite' | 'MongoDB and Redis';
  /** A fresh stage, ended after the test. */
  readonly open: (options?: Omit<VaultProcessRigOptions, 'backend'>) => Promise<VaultProcessRig>;
  /** Where Redis is part of it. */
  readonly redis: () => RedisServer;
}

/** The same promises on one host, and scaled out. */
export function describeEachBackend(title: string, defineTests: (backend: VaultBackendRig) => void): void {
  const pool = createVaultPool();
  beforeAll(() => pool.prepare(3), 60_000);
  afterAll(() => pool.close());
  const openRigs: VaultProcessRig[] = [];
  const closeAll = () => Promise.all(openRigs.splice(0).map((rig) => rig.close()));
  const openRig = async (options: VaultProcessRigOptions) => {
    const timings = { ...withoutEarlyRefresh, ...options.timings };
    const rig = await createVaultProcessRig({ ...options, timings, pool });
    openRigs.push(rig);
    return rig;
  };

  describe(`${title} on SQLite`, () => {
    afterEach(closeAll);
    defineTests({
      name: 'SQLite',
      open: (options) => openRig({ ...options, backend: { kind: 'sqlite' } }),
      redis: () => {
        throw new Error('There is no Redis here');
      },
    });
  });

  describeWith('redis-server', `${title} on MongoDB and Redis`, () => {
    let redis: RedisServer;
    beforeAll(async () => {
      redis = await startRedisServer();
    });
    afterEach(closeAll);
    afterAll(() => redis.stop());
    defineTests({
      name: 'MongoDB and Redis',
      open: (options) => openRig({ ...options, backend: { kind: 'mongo', redisUri: redis.uri } }),
      redis: () => redis,
    });
  });
}

/** Processes that all know the user's token, which is over now; nothing was asked of the authorization server yet. */
export async function advanceToExpiry(
  rig: VaultProcessRig,
  processes: readonly VaultProcess[],
): Promise<void> {
  const [first] = processes;
  await rig.signIn(first!, 'ada');
  await rig.callFromAll(processes, { callsPerUser: 1 });
  await rig.advance(TOKEN_LIFETIME_MS);
  rig.authorization.reset();
}
