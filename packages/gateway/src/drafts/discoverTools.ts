import { parseUrl, type DiscoverToolsRequest } from '@behalf/contracts';
import { recorded } from '../access/recorded.ts';
import { configChange } from '../configure/configChange.ts';
import { enterWrite } from '../configure/enterWrite.ts';
import { targetOf } from '../configure/listDefinition.ts';
import type { UserPrincipal } from '../principal/principal.ts';
import type { Fields } from '../registry/canonical.ts';
import { countDiscovery } from './countDiscovery.ts';
import { discoverWithDraft } from './discoverWithDraft.ts';
import type { DraftDefinition } from './drafts.ts';
import { look } from './look.ts';
import { offerSignIn, type Discovered } from './offerSignIn.ts';
import type { DiscoverParts } from './parts.ts';

/** On the page that asks whether to sign in, beside the hosts: nobody has given it another yet. */
const TITLE = 'New server';

type Auth = DiscoverToolsRequest['auth'];

/**
 * What a server has that nobody saved. It is judged as saving it would judge it, then asked once; nothing of it is stored but a draft
 * where its user has to sign in first. That it was asked is told, by its host: somebody may be looking for hosts.
 */
export function discoverTools(
  parts: DiscoverParts,
  principal: UserPrincipal,
  { url, type, auth, returnTo }: DiscoverToolsRequest,
): Promise<Discovered> {
  const attempt = configChange(principal, { action: 'server.discover', door: 'rest' });
  const definition: DraftDefinition = { type, url, title: TITLE };
  return recorded(parts.audit, attempt, async (trail) => {
    const host = parseUrl(url)?.host;
    if (host !== undefined) trail.subject = host;
    await enterWrite(parts, principal);
    await countDiscovery(parts, principal);
    const result =
      auth.type === 'draft'
        ? await discoverWithDraft(parts, principal, { draftId: auth.draftId, definition, returnTo })
        : await discoverAsIs(parts, principal, { auth, definition, returnTo });
    parts.audit.note({ ...attempt, ...trail, outcome: 'ok' });
    return { result, changed: [] };
  });
}

interface AsIs {
  readonly definition: DraftDefinition;
  readonly auth: Exclude<Auth, { type: 'draft' }>;
  readonly returnTo: string | undefined;
}

/** With nothing, or with a key that is forgotten when the answer is there: no draft holds one. */
async function discoverAsIs(
  parts: DiscoverParts,
  principal: UserPrincipal,
  { auth, definition, returnTo }: AsIs,
): Promise<Discovered> {
  const fields = auth.type === 'key' ? { ...definition, apiKey: keyOf(auth) } : definition;
  const looked = await look(parts, principal, fields, targetOf);
  if ('tools' in looked) return { view: looked.tools };
  const { reason, error } = looked.refused;
  if (auth.type === 'key') {
    const hint = reason === 'unauthorized' ? 'key' : 'forbidden';
    return { view: { outcome: 'credential_rejected', hint } };
  }
  const { challenge } = error.detail;
  return offerSignIn(parts, principal, {
    ...(await parts.drafts.open(principal, definition)),
    ...{ challenge, returnTo },
  });
}

function keyOf({ authorization_type, custom_header, key }: Extract<Auth, { type: 'key' }>): Fields {
  const header = custom_header === undefined ? {} : { custom_header };
  return { source: 'admin', authorization_type, key, ...header };
}
