import type { Env } from '@behalf/contracts';
import type { StoreTargets } from '@behalf/stores/open';

/** Which stores the environment asks for. */
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
