import type { AuthorizationServerRecords } from '@behalf/gateway/facade';
import type Provider from 'oidc-provider';

type Middleware = Parameters<Provider['use']>[0];

/** What the library made of a request, as far as it is looked at. */
interface RequestEntities {
  readonly entities: Readonly<
    Record<
      'RotatedRefreshToken' | 'RefreshToken',
      { readonly jti: string; destroy(): Promise<void> } | undefined
    >
  >;
}

/**
 * Of two answers to one refresh token the second holds what the first did. Two successors that both live would hide a thief among
 * racing clients; with one, whoever comes second with it is noticed.
 */
export function createRotationReplay(
  records: Pick<AuthorizationServerRecords, 'add'>,
  ttlMs: number,
): Middleware {
  return async (ctx, next) => {
    await next();
    const { RotatedRefreshToken: rotated, RefreshToken: issued } = (ctx['oidc'] as RequestEntities).entities;
    if (!rotated || !issued || ctx.status !== 200) return;
    const existing = await records.add('Successor', rotated.jti, { token: issued.jti }, { ttlMs });
    if (!existing) return;
    await issued.destroy();
    ctx.body = { ...(ctx.body as object), refresh_token: existing.token };
  };
}
