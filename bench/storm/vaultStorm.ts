import { createVaultProcessRig, type CallsReport, type VaultBackend } from '@behalf/testkit/vault';
import { toFigures, type StormFigures } from './figures.ts';
import {
  CALLS_PER_PROCESS,
  ACCESS_TOKEN_LIFETIME_MS,
  PROCESSES,
  REFRESH_DELAY_MS,
  ROTATION_CALLS,
  ROTATION_REFRESH_DELAY_MS,
  ROTATIONS,
  CALL_SPREAD_MS,
  STORM_USER,
} from './constants.ts';

/** Both storms through the vault, with real processes and stores. */
export async function measureVaultStorm(
  backend: VaultBackend,
): Promise<{ storm: StormFigures; rotations: StormFigures }> {
  const rig = await createVaultProcessRig({ backend, authorization: { delayMs: REFRESH_DELAY_MS } });
  try {
    const processes = await rig.startMany(PROCESSES);
    await rig.signIn(processes[0], STORM_USER);
    await rig.callFromAll(processes, { callsPerUser: 1 });

    await rig.advance(ACCESS_TOKEN_LIFETIME_MS);
    rig.authorization.reset();
    const storm = toFigures(
      rig,
      countFailedCalls(await rig.callFromAll(processes, { callsPerUser: CALLS_PER_PROCESS })),
    );

    rig.authorization.change({ delayMs: ROTATION_REFRESH_DELAY_MS });
    rig.authorization.reset();
    let failedCalls = 0;
    for (let rotation = 1; rotation <= ROTATIONS; rotation += 1) {
      await rig.advance(ACCESS_TOKEN_LIFETIME_MS);
      failedCalls += countFailedCalls(
        await rig.callFromAll(processes, { callsPerUser: ROTATION_CALLS, spreadMs: CALL_SPREAD_MS }),
      );
    }
    return { storm, rotations: toFigures(rig, failedCalls) };
  } finally {
    await rig.close();
  }
}

export function countFailedCalls({ failures, wrongUser }: CallsReport): number {
  return Object.values(failures).reduce((sum, count) => sum + count, wrongUser);
}
