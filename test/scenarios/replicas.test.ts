import { describeWith, startRedisServer, type RedisServer } from '@behalf/testkit';
import { afterAll, beforeAll, describe, test } from '@jest/globals';
import { startReplicas, type Replicas } from './replicas.ts';
import { replicaChanges } from './replicaChanges.ts';

describeWith('redis-server', 'two replicas on one store', () => {
  let redis: RedisServer;
  let replicas: Replicas;
  beforeAll(async () => {
    redis = await startRedisServer();
    replicas = await startReplicas(redis);
  }, 60_000);
  afterAll(async () => {
    await replicas.close();
    await redis.stop();
  });

  test('a user gets a smaller role', () => replicaChanges.smallerRole(replicas), 20_000);
  test('a role allows less', () => replicaChanges.lessAllowed(replicas), 20_000);
  test('a server is deleted', () => replicaChanges.deletedServer(replicas), 20_000);
  test('a server is overridden', () => replicaChanges.override(replicas), 20_000);
  test('a key is deleted', () => replicaChanges.deletedKey(replicas), 20_000);
  test('somebody signs out', () => replicaChanges.signOut(replicas), 20_000);
  test('a server is shared no longer', () => replicaChanges.sharedNoLonger(replicas), 20_000);

  describe('whose Redis is gone', () => {
    beforeAll(() => redis.stop());
    for (const [name, happens] of Object.entries(replicaChanges)) {
      const title = name.replace(/[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`);
      test(title, () => happens(replicas), 20_000);
    }
  });
});
