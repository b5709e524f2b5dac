import type { DiscoveryEndpoint } from '../../api/servers.ts';
import { isRecord } from '../../result/json.ts';
import { type ServerForm, type ServerTransport, emptyForm, transports } from '../form/serverForm.ts';
import type { DiscoveryResult } from './useDiscovery.ts';

/** The initial server form, and the draft whose sign-in is kept. */
export interface InitialForm {
  readonly form: ServerForm;
  readonly draft?: string;
}

/** Creates the form from the settings that worked. */
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
  // The server refused the sign-in, so it is not kept.
  return view.outcome === 'tools' ? { form: oauthForm, draft: auth.draftId } : { form: oauthForm };
}

const DISCOVERY_KEY = 'behalf.discovery';

/** The discovery in progress when a sign-in leaves the page. Contains no credential. */
interface SavedDiscovery {
  readonly url: string;
  readonly type: ServerTransport;
  readonly draftId: string;
}

export function saveDiscovery(saved: SavedDiscovery, storage = () => sessionStorage): void {
  try {
    storage().setItem(DISCOVERY_KEY, JSON.stringify(saved));
  } catch {
    // Without storage, the user enters the URL again.
  }
}

/** Does not remove the value, because React may render twice. */
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

/** Called after the value was used, so that the page starts empty next time. */
export function clearDiscovery(storage = () => sessionStorage): void {
  try {
    storage().removeItem(DISCOVERY_KEY);
  } catch {
    // Without storage there is nothing to remove.
  }
}
