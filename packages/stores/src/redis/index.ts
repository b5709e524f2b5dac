export { openRedisStore, type RedisParts } from './openRedisStore.ts';
