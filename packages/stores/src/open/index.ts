export { StoreUnavailableError } from '../errors.ts';
export { loadKeys, type KeySource } from './loadKeys.ts';
export { openCoordination, openPrimary, type StoreTargets } from './openStores.ts';
export { StorageFormatError } from '../storageFormat.ts';
