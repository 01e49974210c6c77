/** Events of RevenueCat, with the fields of https://www.revenuecat.com/docs/integrations/webhooks. Times are
 * Unix milliseconds. */

let events = 0;
export const startMs = Date.UTC(2026, 4, 1, 10);
export const endMs = Date.UTC(2026, 5, 1, 10);
export const anonymousId = "$RCAnonymousID:87c6049c58069238dce29853916d624c";

/** An event of this type, of a monthly subscription of 9.99 with 20 % tax. */
export function revenuecatEvent(type: string, more: object = {}) {
  events += 1;
  return {
    api_version: "1.0",
    event: {
      id: `12345678-1234-1234-1234-${String(events).padStart(12, "0")}`,
      type,
      event_timestamp_ms: startMs + 5_000,
      app_id: "app1",
      environment: "PRODUCTION",
      store: "APP_STORE",
      app_user_id: "ada",
      original_app_user_id: anonymousId,
      aliases: [anonymousId, "ada"],
      product_id: "pro.monthly",
      period_type: "NORMAL",
      entitlement_ids: ["pro"],
      entitlement_id: null,
      purchased_at_ms: startMs,
      expiration_at_ms: endMs,
      is_family_share: false,
      country_code: "DE",
      transaction_id: "2000",
      original_transaction_id: "1000",
      presented_offering_id: null,
      currency: "EUR",
      price: 10.79,
      price_in_purchased_currency: 9.99,
      offer_code: null,
      tax_percentage: 0.2,
      commission_percentage: 0.3,
      takehome_percentage: 0.7,
      subscriber_attributes: { $email: { value: "ada@example.com", updated_at_ms: startMs } },
      ...more,
    },
  };
}

/** The purchase of a free trial of a week. */
export const trial = (more: object = {}) =>
  revenuecatEvent("INITIAL_PURCHASE", {
    period_type: "TRIAL",
    price: 0,
    price_in_purchased_currency: 0,
    expiration_at_ms: startMs + 7 * 86_400_000,
    ...more,
  });

/** A refund of the last period. */
export const refund = () =>
  revenuecatEvent("CANCELLATION", {
    cancel_reason: "CUSTOMER_SUPPORT",
    price: -10.79,
    price_in_purchased_currency: -9.99,
  });
