export { eventually } from './eventually.ts';
export { createFakeClock, type FakeClock } from './fakeClock.ts';
export { verifies } from './verifies.ts';
