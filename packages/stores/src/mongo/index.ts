export { openMongoStore, type MongoParts } from './openMongoStore.ts';
