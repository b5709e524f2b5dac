import { parseUrl, type DiscoverToolsRequest } from '@behalf/contracts';
import { withAudit } from '../access/withAudit.ts';
import { createConfigEvent } from '../configure/configEvent.ts';
import { reauthorizeWriter } from '../configure/reauthorizeWriter.ts';
import { toRemoteTarget } from '../configure/listDefinitionTools.ts';
import type { UserPrincipal } from '../principal/principal.ts';
import type { Fields } from '../registry/canonicalFields.ts';
import { limitDiscovery } from './limitDiscovery.ts';
import { discoverWithDraft } from './discoverWithDraft.ts';
import type { DraftDefinition } from './drafts.ts';
import { probeDraft } from './probeDraft.ts';
import { offerSignIn, type DiscoveryResult } from './offerSignIn.ts';
import type { DiscoverParts } from './parts.ts';

/** On the page that asks whether to sign in, beside the hosts: nobody has given it another yet. */
const DRAFT_TITLE = 'New server';

type Auth = DiscoverToolsRequest['auth'];

/**
 * What a server has that nobody saved. It is judged as saving it would judge it, then asked once; nothing of it is stored but a draft
 * where its user has to sign in first. That it was asked is told, by its host: somebody may be looking for hosts.
 */
export function discoverTools(
  parts: DiscoverParts,
  principal: UserPrincipal,
  { url, type, auth, returnTo }: DiscoverToolsRequest,
): Promise<DiscoveryResult> {
  const event = createConfigEvent(principal, { action: 'server.discover', door: 'rest' });
  const definition: DraftDefinition = { type, url, title: DRAFT_TITLE };
  return withAudit(parts.audit, event, async (details) => {
    const host = parseUrl(url)?.host;
    if (host !== undefined) details.subject = host;
    await reauthorizeWriter(parts, principal);
    await limitDiscovery(parts, principal);
    const result =
      auth.type === 'draft'
        ? await discoverWithDraft(parts, principal, { draftId: auth.draftId, definition, returnTo })
        : await discoverDirectly(parts, principal, { auth, definition, returnTo });
    parts.audit.note({ ...event, ...details, outcome: 'ok' });
    return { result, changed: [] };
  });
}

interface DirectDiscovery {
  readonly definition: DraftDefinition;
  readonly auth: Exclude<Auth, { type: 'draft' }>;
  readonly returnTo: string | undefined;
}

/** With nothing, or with a key that is forgotten when the answer is there: no draft holds one. */
async function discoverDirectly(
  parts: DiscoverParts,
  principal: UserPrincipal,
  { auth, definition, returnTo }: DirectDiscovery,
): Promise<DiscoveryResult> {
  const fields = auth.type === 'key' ? { ...definition, apiKey: toApiKey(auth) } : definition;
  const probe = await probeDraft(parts, principal, fields, toRemoteTarget);
  if ('tools' in probe) return { view: probe.tools };
  const { reason, error } = probe.refusal;
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

function toApiKey({ authorization_type, custom_header, key }: Extract<Auth, { type: 'key' }>): Fields {
  const header = custom_header === undefined ? {} : { custom_header };
  return { source: 'admin', authorization_type, key, ...header };
}
