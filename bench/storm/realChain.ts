import { createVaultProcessRig, type VaultBackend, type VaultProcessRig } from '@behalf/testkit/vault';
import { figuresOf, type StormFigures } from './figures.ts';
import { CALLS, PROCESSES, REFRESH_MS, USER } from './scene.ts';
import { failedOf } from './vaultStorm.ts';

/** Tokens that really end while we wait. A tenth of it is the skew. */
const LIFETIME_S = 20;
const GRACE_MS = 60_000;

interface Case {
  readonly name: string;
  readonly run: (stage: VaultProcessRig) => Promise<number>;
}

/** A storm at an end that nobody brought forward. */
const storm: Case = {
  name: 'storm_real_chain',
  async run(stage) {
    const processes = await stage.startMany(PROCESSES);
    await stage.signIn(processes[0], USER);
    await stage.callFromAll(processes, { callsPerUser: 1 });
    await past(LIFETIME_S * 1_000);
    return failedOf(await stage.callFromAll(processes, { callsPerUser: CALLS }));
  },
};

/** `kill -9` before anything was sent: the others wait until the claim of 20 s is over. */
const killedBefore: Case = {
  name: 'killed_before_send_real_chain',
  async run(stage) {
    const [victim, ...heirs] = await stage.startMany(PROCESSES);
    await stage.signIn(victim, USER);
    await past(LIFETIME_S * 1_000);
    await victim.holdSends();
    void victim.calls({ users: [USER], callsPerUser: 1 }).catch(() => undefined);
    while ((await victim.heldSends()) === 0) await past(10);
    await victim.kill();
    return failedOf(await stage.callFromAll(heirs, { callsPerUser: CALLS }));
  },
};

/** `kill -9` after the authorization server rotated and before the answer was stored. */
const killedAfter: Case = {
  name: 'killed_after_send_real_chain',
  async run(stage) {
    stage.authorization.change({ graceMs: GRACE_MS });
    const [victim, ...heirs] = await stage.startMany(PROCESSES);
    await stage.signIn(victim, USER);
    await past(LIFETIME_S * 1_000);
    const hold = stage.authorization.hold('token', 'after');
    void victim.calls({ users: [USER], callsPerUser: 1 }).catch(() => undefined);
    await hold.arrived();
    await victim.kill();
    hold.release();
    return failedOf(await stage.callFromAll(heirs, { callsPerUser: CALLS }));
  },
};

/** The long cases once on the real times. They spend theirs waiting, so they run beside each other. */
export async function realChain(backend: VaultBackend): Promise<Record<string, StormFigures>> {
  const measured = await Promise.all(
    [storm, killedBefore, killedAfter].map(async ({ name, run }) => {
      const authorization = { delayMs: REFRESH_MS, lifetimeS: LIFETIME_S };
      const stage = await createVaultProcessRig({ backend, authorization });
      try {
        const failed = await run(stage);
        return [name, figuresOf(stage, failed)] as const;
      } finally {
        await stage.close();
      }
    }),
  );
  return Object.fromEntries(measured);
}

function past(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
