export { readBoundedText } from './network.ts';
export { ActiveSet, ByteQueue, LruMap } from './collections.ts';
export { AutoResetEvent, KeyedMutex, Semaphore, SemaphoreFull, coalesce } from './concurrency.ts';
export { isObject, stableStringify } from './json.ts';
export { abortReason, sleep, systemClock, withTimeout, type Cancel, type Clock } from './clock.ts';
export { LightCancellation, toAbortSignal, rejectOnAbort, type Cancellation } from './cancellation.ts';
export { areSecretsEqual, HiddenText } from './secrets.ts';
export type { HeldLease, LeasePurpose, Leases } from './lease.ts';
export type { Dial, DialTarget, Fetch, Resolve, Send, SendResponse, SendRequest } from './network.ts';
export { createRandom, systemRandom, type Random } from './random.ts';
export { createRedactor, type Redactor } from './redact.ts';
export {
  createKeyring,
  keyId,
  SealError,
  type Keyring,
  type UnsealFailure,
  type SealContext,
} from './seal.ts';
export { createSingleFlight, type FlightKey, type FlightOptions, type SingleFlight } from './singleFlight.ts';
