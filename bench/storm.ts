import type { VaultBackend } from '@behalf/testkit/vault';
import { createProcesses } from './processes.ts';
import { startRedis } from './redis.ts';
import type { PartOptions } from './stage.ts';
import { asCounts, type StormFigures } from './storm/figures.ts';
import { realChain } from './storm/realChain.ts';
import { sdkStorm } from './storm/sdkStorm.ts';
import { vaultStorm } from './storm/vaultStorm.ts';

/** What renewing tokens costs when everybody wants them at once, at an authorization server that forgives nothing. */
export async function measureStorm({
  progress,
  environment,
}: PartOptions): Promise<{ counts: Record<string, number> }> {
  const processes = createProcesses();
  const counts: Record<string, number> = {};
  const note = (name: string, figures: StormFigures) => {
    Object.assign(counts, asCounts(name, figures));
    const { token_requests: requests, families_revoked: revoked, failed_calls: failed } = figures;
    progress(`${name}: ${requests} token requests, ${revoked} families revoked, ${failed} failed calls`);
  };
  try {
    const redisUri = await startRedis(processes, environment);
    const backends: Record<string, VaultBackend> = {
      sqlite: { kind: 'sqlite' },
      mongo_redis: { kind: 'mongo', redisUri },
    };
    for (const [name, backend] of Object.entries(backends)) {
      const { storm, rotations } = await vaultStorm(backend);
      note(`storm_${name}`, storm);
      note(`rotations_50_${name}`, rotations);
    }
    const baseline = await sdkStorm(processes);
    note('storm_sdk_auth', baseline.storm);
    note('rotations_50_sdk_auth', baseline.rotations);
    for (const [name, figures] of Object.entries(await realChain({ kind: 'sqlite' }))) note(name, figures);
    return { counts };
  } finally {
    await processes.stopAll();
  }
}
