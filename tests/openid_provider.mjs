// An OpenID provider for tests: anybody signs in with any name. Arguments: its port, the client's callback.
import Provider from "oidc-provider";

const [port, callback] = process.argv.slice(2);
const issuer = `http://127.0.0.1:${port}`;

const provider = new Provider(issuer, {
  clients: [{ client_id: "chaffinch", client_secret: "a secret / with + signs", redirect_uris: [callback] }],
  claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"] },
  cookies: { keys: ["only for tests"] },
  features: { devInteractions: { enabled: true } },
  pkce: { required: () => true },
  findAccount: (_context, id) => ({
    accountId: id,
    claims: () => ({
      sub: id,
      name: `Name of ${id}`,
      email: `${id.replace("unverified-", "")}@example.edu`,
      email_verified: !id.startsWith("unverified-"),
    }),
  }),
});

provider.listen(Number(port), "127.0.0.1", () => console.log("ready"));
