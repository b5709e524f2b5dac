export { eventually } from './eventually.ts';
export { createFakeClock, type FakeClock } from './fakeClock.ts';
export {
  describeWith,
  findProgram,
  freePort,
  startRedisServer,
  type RedisServer,
  type SystemProgram,
} from './system.ts';
export { verifies } from './verifies.ts';
