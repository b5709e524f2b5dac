import { createVaultProcessRig, type VaultBackend, type VaultProcessRig } from '@behalf/testkit/vault';
import { toFigures, type StormFigures } from './figures.ts';
import { CALLS_PER_PROCESS, PROCESSES, REFRESH_DELAY_MS, STORM_USER } from './constants.ts';
import { countFailedCalls } from './vaultStorm.ts';

/** Tokens that really expire. A tenth of the lifetime is the skew. */
const LIFETIME_S = 20;
const GRACE_MS = 60_000;

interface StormCase {
  readonly name: string;
  readonly run: (rig: VaultProcessRig) => Promise<number>;
}

/** A storm at the actual expiry. */
const stormCase: StormCase = {
  name: 'storm_real_chain',
  async run(rig) {
    const processes = await rig.startMany(PROCESSES);
    await rig.signIn(processes[0], STORM_USER);
    await rig.callFromAll(processes, { callsPerUser: 1 });
    await wait(LIFETIME_S * 1_000);
    return countFailedCalls(await rig.callFromAll(processes, { callsPerUser: CALLS_PER_PROCESS }));
  },
};

/** `kill -9` before the request is sent: the others wait until the claim of 20 s expires. */
const killedBeforeRequest: StormCase = {
  name: 'killed_before_send_real_chain',
  async run(rig) {
    const [killedProcess, ...survivors] = await rig.startMany(PROCESSES);
    await rig.signIn(killedProcess, STORM_USER);
    await wait(LIFETIME_S * 1_000);
    await killedProcess.holdSends();
    void killedProcess.calls({ users: [STORM_USER], callsPerUser: 1 }).catch(() => undefined);
    while ((await killedProcess.heldSends()) === 0) await wait(10);
    await killedProcess.kill();
    return countFailedCalls(await rig.callFromAll(survivors, { callsPerUser: CALLS_PER_PROCESS }));
  },
};

/** `kill -9` after the authorization server rotated and before the response is stored. */
const killedAfterRequest: StormCase = {
  name: 'killed_after_send_real_chain',
  async run(rig) {
    rig.authorization.change({ graceMs: GRACE_MS });
    const [killedProcess, ...survivors] = await rig.startMany(PROCESSES);
    await rig.signIn(killedProcess, STORM_USER);
    await wait(LIFETIME_S * 1_000);
    const hold = rig.authorization.hold('token', 'after');
    void killedProcess.calls({ users: [STORM_USER], callsPerUser: 1 }).catch(() => undefined);
    await hold.arrived();
    await killedProcess.kill();
    hold.release();
    return countFailedCalls(await rig.callFromAll(survivors, { callsPerUser: CALLS_PER_PROCESS }));
  },
};

/** Runs the long cases in real time, in parallel, because they mostly wait. */
export async function measureRealChain(backend: VaultBackend): Promise<Record<string, StormFigures>> {
  const results = await Promise.all(
    [stormCase, killedBeforeRequest, killedAfterRequest].map(async ({ name, run }) => {
      const authorization = { delayMs: REFRESH_DELAY_MS, lifetimeS: LIFETIME_S };
      const rig = await createVaultProcessRig({ backend, authorization });
      try {
        const failed = await run(rig);
        return [name, toFigures(rig, failed)] as const;
      } finally {
        await rig.close();
      }
    }),
  );
  return Object.fromEntries(results);
}

function wait(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
