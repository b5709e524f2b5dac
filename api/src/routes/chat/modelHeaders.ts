import { hasControlCharacter } from '@behalf/contracts';
import { GatewayError, type Principal, type RequestFields, userFieldsOf } from '@behalf/gateway';
import { type EndpointSettings, renderHeader } from '@behalf/settings';

/** Renders the configured headers for this user. Throws if a placeholder has no value: no request is sent then. */
export function renderModelHeaders(
  { name: endpoint, apiKey, headers: templates }: EndpointSettings,
  principal: Principal,
  fields: RequestFields = {},
): Record<string, string> {
  const headers: Record<string, string> = {};
  if (apiKey !== undefined) headers['authorization'] = `Bearer ${apiKey}`;
  const values = { user: userFieldsOf(principal), body: { ...fields } };
  for (const [name, template] of Object.entries(templates)) {
    const rendered = renderHeader(template, values);
    if (!rendered.ok) {
      const placeholders = rendered.placeholders.join(', ');
      throw createHeaderError(endpoint, name, `needs ${placeholders}, which has no value for you`);
    }
    headers[name.toLowerCase()] = rendered.text;
  }
  for (const [name, value] of Object.entries(headers)) {
    // Prevents header injection, also from values of the configuration file and the environment.
    if (hasControlCharacter(value) || /[^\u0000-\u00ff]/.test(value)) {
      throw createHeaderError(endpoint, name, 'has a value that no header can hold');
    }
  }
  return headers;
}

function createHeaderError(endpoint: string, header: string, reason: string): GatewayError {
  return new GatewayError('MODEL_REFUSED', {
    detail: `Nothing was sent: the header ${header} of the model "${endpoint}" ${reason}. Ask the operator to correct endpoints.custom.`,
  });
}
