import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createVaultProcessRig, type VaultProcessRig } from '@behalf/testkit/vault';
import type { StoredOAuthTokens } from '@modelcontextprotocol/client';
import type { Processes, Worker } from '../processes.ts';
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
import type { SdkJob, SdkResult } from './sdkWorker.ts';
import { sharedTokens } from './sharedTokens.ts';

/** The same storms through the SDK's own `auth()`, with the tokens in one file. A lost grant is given anew. */
export async function sdkStorm(
  processes: Processes,
): Promise<{ storm: StormFigures; rotations: StormFigures }> {
  const folder = await mkdtemp(join(tmpdir(), 'behalf-storm-'));
  const file = join(folder, 'tokens.json');
  const stage = await createVaultProcessRig({
    backend: { kind: 'sqlite' },
    authorization: { delayMs: REFRESH_MS },
  });
  const workers = Array.from({ length: PROCESSES }, () => processes.worker('storm/sdkWorker.ts'));
  try {
    const job = { url: stage.server.url, clientId: stage.clientId, file };
    const round = (each: Pick<SdkJob, 'calls' | 'spreadMs'>) => askAll(workers, { ...job, ...each });
    signIn(stage, file);
    await round({ calls: 1, spreadMs: 0 });

    await stage.advance(LIFETIME_MS);
    stage.authorization.reset();
    const storm = figuresOf(stage, await round({ calls: CALLS, spreadMs: 0 }));

    stage.authorization.change({ delayMs: ROTATION_REFRESH_MS });
    stage.authorization.reset();
    let failed = 0;
    for (let rotation = 1; rotation <= ROTATIONS; rotation += 1) {
      signIn(stage, file);
      await stage.advance(LIFETIME_MS);
      failed += await round({ calls: ROTATION_CALLS, spreadMs: SPREAD_MS });
    }
    return { storm, rotations: figuresOf(stage, failed) };
  } finally {
    await Promise.all(workers.map((worker) => worker.stop()));
    await stage.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** Only who has no living grant signs in: one that survived goes on. */
function signIn(stage: VaultProcessRig, file: string): void {
  const tokens = sharedTokens<StoredOAuthTokens>(file);
  if (stage.authorization.isCurrent(tokens.read()?.refresh_token ?? '')) return;
  const { accessToken, refreshToken, scope } = stage.grantTo(USER);
  tokens.write({
    access_token: accessToken,
    token_type: 'Bearer',
    scope,
    ...(refreshToken !== undefined && { refresh_token: refreshToken }),
  });
}

async function askAll(workers: readonly Worker[], job: SdkJob): Promise<number> {
  const results = await Promise.all(workers.map((worker) => worker.ask<SdkResult>(job)));
  return results.reduce((sum, { failedCalls }) => sum + failedCalls, 0);
}
