import { hasControlCharacter } from '@behalf/contracts';
import { GatewayError, userFieldsOf, type Principal, type RequestFields } from '@behalf/gateway';
import { renderHeader, type EndpointSettings } from '@behalf/settings';

/** The headers of a request to a model, for this user: all of them filled in, or nothing is sent. */
export function modelHeaders(
  { name: endpoint, apiKey, headers }: EndpointSettings,
  principal: Principal,
  fields: RequestFields = {},
): Record<string, string> {
  const headerValues: Record<string, string> = {};
  if (apiKey !== undefined) headerValues['authorization'] = `Bearer ${apiKey}`;
  const values = { user: userFieldsOf(principal), body: { ...fields } };
  for (const [name, template] of Object.entries(headers)) {
    const rendered = renderHeader(template, values);
    if (!rendered.ok) throw headerError(endpoint, name, rendered.placeholders);
    headerValues[name.toLowerCase()] = rendered.text;
  }
  for (const [name, value] of Object.entries(headerValues)) {
    // Also what came from the file or the environment: a line break there smuggles as well as a user's.
    if (hasControlCharacter(value) || /[^\u0000-\u00ff]/.test(value)) throw headerError(endpoint, name, []);
  }
  return headerValues;
}

function headerError(endpoint: string, header: string, placeholders: readonly string[]): GatewayError {
  const reason =
    placeholders.length > 0
      ? `needs ${placeholders.join(', ')}, which has no value for you`
      : 'has a value that no header can hold';
  return new GatewayError('MODEL_REFUSED', {
    detail: `Nothing was sent: the header ${header} of the model "${endpoint}" ${reason}. Ask the operator to correct endpoints.custom.`,
  });
}
