/** The vault alone, for processes that need nothing else of the gateway. */
export { createVault } from './createVault.ts';
