import type { VaultBackend } from '@behalf/testkit/vault';
import { createProcesses } from './processes.ts';
import { startRedis } from './redis.ts';
import type { PartOptions } from './rig.ts';
import { toCounts, type StormFigures } from './storm/figures.ts';
import { measureRealChain } from './storm/realChain.ts';
import { measureSdkStorm } from './storm/sdkStorm.ts';
import { measureVaultStorm } from './storm/vaultStorm.ts';

/** The cost of refreshing tokens that many calls need at once, at an authorization server with strict rotation. */
export async function measureStorm({
  progress,
  environment,
}: PartOptions): Promise<{ counts: Record<string, number> }> {
  const processes = createProcesses();
  const counts: Record<string, number> = {};
  const recordFigures = (name: string, figures: StormFigures) => {
    Object.assign(counts, toCounts(name, figures));
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
      const { storm, rotations } = await measureVaultStorm(backend);
      recordFigures(`storm_${name}`, storm);
      recordFigures(`rotations_50_${name}`, rotations);
    }
    const baseline = await measureSdkStorm(processes);
    recordFigures('storm_sdk_auth', baseline.storm);
    recordFigures('rotations_50_sdk_auth', baseline.rotations);
    for (const [name, figures] of Object.entries(await measureRealChain({ kind: 'sqlite' })))
      recordFigures(name, figures);
    return { counts };
  } finally {
    await processes.stopAll();
  }
}
