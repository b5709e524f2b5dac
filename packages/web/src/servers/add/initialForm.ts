import { emptyForm, type ServerForm } from '../form/serverForm.ts';
import type { DiscoveryResult } from './useDiscovery.ts';
import type { DiscoveryEndpoint } from '../../api/discover.ts';

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
