import { isRecord } from '../../result/isRecord.ts';
import { transports, type ServerTransport } from '../form/serverForm.ts';

const DISCOVERY_KEY = 'behalf.discovery';

/** What was looked at when a sign-in left the page. No credential is among it. */
export interface SavedDiscovery {
  readonly url: string;
  readonly type: ServerTransport;
  readonly draftId: string;
}

export function saveDiscovery(saved: SavedDiscovery, storage = () => sessionStorage): void {
  try {
    storage().setItem(DISCOVERY_KEY, JSON.stringify(saved));
  } catch {
    // Without storage its user enters the address again.
  }
}

/** A render may be begun twice, so reading takes nothing away. */
export function loadDiscovery(storage = () => sessionStorage): SavedDiscovery | undefined {
  try {
    const saved: unknown = JSON.parse(storage().getItem(DISCOVERY_KEY) ?? 'null');
    if (!isRecord(saved)) return undefined;
    const { url, type, draftId } = saved;
    const transport = transports.find((candidate) => candidate === type);
    return typeof url === 'string' && typeof draftId === 'string' && transport
      ? { url, type: transport, draftId }
      : undefined;
  } catch {
    return undefined;
  }
}

/** Once it was taken up: a page that is opened anew later begins anew. */
export function clearDiscovery(storage = () => sessionStorage): void {
  try {
    storage().removeItem(DISCOVERY_KEY);
  } catch {
    // Where nothing can be kept, nothing was.
  }
}
