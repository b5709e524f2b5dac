import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createVaultProcessRig, type VaultProcessRig } from '@behalf/testkit/vault';
import type { StoredOAuthTokens } from '@modelcontextprotocol/client';
import type { Processes, Worker } from '../processes.ts';
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
import type { SdkJob, SdkResult } from './sdkWorker.ts';
import { openSharedTokens } from './sharedTokens.ts';

/** The same storms with `auth()` of the SDK and the tokens in one file. A lost grant is replaced. */
export async function measureSdkStorm(
  processes: Processes,
): Promise<{ storm: StormFigures; rotations: StormFigures }> {
  const folder = await mkdtemp(join(tmpdir(), 'behalf-storm-'));
  const file = join(folder, 'tokens.json');
  const rig = await createVaultProcessRig({
    backend: { kind: 'sqlite' },
    authorization: { delayMs: REFRESH_DELAY_MS },
  });
  const workers = Array.from({ length: PROCESSES }, () => processes.startWorker('storm/sdkWorker.ts'));
  try {
    const job = { url: rig.server.url, clientId: rig.clientId, file };
    const runRound = (roundOptions: Pick<SdkJob, 'calls' | 'spreadMs'>) =>
      runOnAllWorkers(workers, { ...job, ...roundOptions });
    storeSignIn(rig, file);
    await runRound({ calls: 1, spreadMs: 0 });

    await rig.advance(ACCESS_TOKEN_LIFETIME_MS);
    rig.authorization.reset();
    const storm = toFigures(rig, await runRound({ calls: CALLS_PER_PROCESS, spreadMs: 0 }));

    rig.authorization.change({ delayMs: ROTATION_REFRESH_DELAY_MS });
    rig.authorization.reset();
    let failedCalls = 0;
    for (let rotation = 1; rotation <= ROTATIONS; rotation += 1) {
      storeSignIn(rig, file);
      await rig.advance(ACCESS_TOKEN_LIFETIME_MS);
      failedCalls += await runRound({ calls: ROTATION_CALLS, spreadMs: CALL_SPREAD_MS });
    }
    return { storm, rotations: toFigures(rig, failedCalls) };
  } finally {
    await Promise.all(workers.map((worker) => worker.stop()));
    await rig.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Signs in only if there is no valid grant. */
function storeSignIn(rig: VaultProcessRig, file: string): void {
  const tokens = openSharedTokens<StoredOAuthTokens>(file);
  if (rig.authorization.isCurrent(tokens.read()?.refresh_token ?? '')) return;
  const { accessToken, refreshToken, scope } = rig.grantTo(STORM_USER);
  tokens.write({
    access_token: accessToken,
    token_type: 'Bearer',
    scope,
    ...(refreshToken !== undefined && { refresh_token: refreshToken }),
  });
}

async function runOnAllWorkers(workers: readonly Worker[], job: SdkJob): Promise<number> {
  const results = await Promise.all(workers.map((worker) => worker.runJob<SdkResult>(job)));
  return results.reduce((sum, { failedCalls }) => sum + failedCalls, 0);
}
