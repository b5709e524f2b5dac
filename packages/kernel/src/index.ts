export { abortReason, sleep, systemClock, within, type Cancel, type Clock } from './clock.ts';
export { equalSecrets } from './equal.ts';
export type { HeldLease, LeasePurpose, Leases } from './lease.ts';
export type { Dial, DialTarget, Fetch, Resolve } from './network.ts';
export { randomFrom, systemRandom, type Random } from './random.ts';
export { createRedactor, type Redactor } from './redact.ts';
export { createKeyring, keyId, SealError, type Keyring, type OpenFailure, type SealContext } from './seal.ts';
export { createSingleFlight, type FlightKey, type FlightOptions, type SingleFlight } from './singleFlight.ts';
