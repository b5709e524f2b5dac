export { openMemoryStore } from './openMemoryStore.ts';
