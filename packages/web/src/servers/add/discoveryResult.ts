import type { DiscoveryEndpoint } from '../../api/servers.ts';
import { isRecord } from '../../result/json.ts';
import { type ServerForm, type ServerTransport, emptyForm, transports } from '../form/serverForm.ts';
import type { DiscoveryResult } from './useDiscovery.ts';

/** What the form of the details begins with, and the draft whose sign-in goes along. */
export interface InitialForm {
  readonly form: ServerForm;
  readonly draft?: string;
}

/** What worked is what is saved. */
export function toInitialForm(endpoint: DiscoveryEndpoint, result: DiscoveryResult | undefined): InitialForm {
  const form: ServerForm = { ...emptyForm, ...endpoint };
  if (!result) return { form };
  const { auth, view } = result;
  if (auth.type === 'key') {
    const { authorization_type, custom_header = form.apiKey.customHeader, key } = auth;
    const apiKey = { source: 'admin', form: authorization_type, customHeader: custom_header, key } as const;
    return { form: { ...form, auth: 'apiKey', apiKey } };
  }
  if (auth.type !== 'draft') return { form };
  const scope = (view.outcome === 'credential_rejected' && view.wantedScopes) || '';
  const oauthForm: ServerForm = { ...form, auth: 'oauth', oauth: { ...form.oauth, scope } };
  // A sign-in that the server refused is of no use to the saved one.
  return view.outcome === 'tools' ? { form: oauthForm, draft: auth.draftId } : { form: oauthForm };
}

const DISCOVERY_KEY = 'behalf.discovery';

/** What was looked at when a sign-in left the page. No credential is among it. */
interface SavedDiscovery {
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
