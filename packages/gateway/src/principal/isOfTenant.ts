/** Whether a principal's key names somebody of this tenant. The key is JSON, so no tenant reads as the beginning of another. */
export function isOfTenant(principalKey: string, tenant: string): boolean {
  return principalKey.startsWith(`[${JSON.stringify(tenant)},`);
}
