import { createVaultProcessRig, type CallsReport, type VaultBackend } from '@behalf/testkit/vault';
import { figuresOf, type StormFigures } from './figures.ts';
import {
  CALLS,
  LIFETIME_MS,
  PROCESSES,
  REFRESH_MS,
  ROTATION_CALLS,
  ROTATION_REFRESH_MS,
  ROTATIONS,
  SPREAD_MS,
  USER,
} from './scene.ts';

/** Both storms through the vault: real processes on real stores. */
export async function vaultStorm(
  backend: VaultBackend,
): Promise<{ storm: StormFigures; rotations: StormFigures }> {
  const stage = await createVaultProcessRig({ backend, authorization: { delayMs: REFRESH_MS } });
  try {
    const processes = await stage.startMany(PROCESSES);
    await stage.signIn(processes[0], USER);
    await stage.callFromAll(processes, { callsPerUser: 1 });

    await stage.advance(LIFETIME_MS);
    stage.authorization.reset();
    const storm = figuresOf(stage, failedOf(await stage.callFromAll(processes, { callsPerUser: CALLS })));

    stage.authorization.change({ delayMs: ROTATION_REFRESH_MS });
    stage.authorization.reset();
    let failed = 0;
    for (let rotation = 1; rotation <= ROTATIONS; rotation += 1) {
      await stage.advance(LIFETIME_MS);
      failed += failedOf(
        await stage.callFromAll(processes, { callsPerUser: ROTATION_CALLS, spreadMs: SPREAD_MS }),
      );
    }
    return { storm, rotations: figuresOf(stage, failed) };
  } finally {
    await stage.close();
  }
}

export function failedOf({ failures, wrongUser: mistaken }: CallsReport): number {
  return Object.values(failures).reduce((sum, count) => sum + count, mistaken);
}
