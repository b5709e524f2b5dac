export { openSqliteStore, type SqliteParts } from './openSqliteStore.ts';
