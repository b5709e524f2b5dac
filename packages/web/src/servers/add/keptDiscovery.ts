import { isRecord } from '../../result/isRecord.ts';
import { transports, type Transport } from '../form/serverForm.ts';

const KEY = 'behalf.discovery';

/** What was looked at when a sign-in left the page. No credential is among it. */
export interface KeptDiscovery {
  readonly url: string;
  readonly type: Transport;
  readonly draftId: string;
}

export function keepDiscovery(kept: KeptDiscovery, storage = () => sessionStorage): void {
  try {
    storage().setItem(KEY, JSON.stringify(kept));
  } catch {
    // Without storage its user enters the address again.
  }
}

/** A render may be begun twice, so reading takes nothing away. */
export function readDiscovery(storage = () => sessionStorage): KeptDiscovery | undefined {
  try {
    const kept: unknown = JSON.parse(storage().getItem(KEY) ?? 'null');
    if (!isRecord(kept)) return undefined;
    const { url, type, draftId } = kept;
    const known = transports.find((one) => one === type);
    return typeof url === 'string' && typeof draftId === 'string' && known
      ? { url, type: known, draftId }
      : undefined;
  } catch {
    return undefined;
  }
}

/** Once it was taken up: a page that is opened anew later begins anew. */
export function forgetDiscovery(storage = () => sessionStorage): void {
  try {
    storage().removeItem(KEY);
  } catch {
    // Where nothing can be kept, nothing was.
  }
}
