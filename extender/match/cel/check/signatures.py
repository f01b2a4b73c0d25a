"""The functions of the Kubernetes v1.36 environment as text: function, overload, signature.

Within a function in the order of upstream: it decides the result type and the cost where several
overloads fit. A receiver stands before the dot; a single capital letter is a type variable.
Families that differ in a type only are written out by `declarations`.
"""

from typing import Final

SIGNATURES: Final = """
!_ logical_not (bool) -> bool
-_ negate_double (double) -> double
-_ negate_int64 (int) -> int
@in in_list (A, list(A)) -> bool
@in in_map (A, map(A, B)) -> bool
@not_strictly_false not_strictly_false (bool) -> bool
_!=_ not_equals (A, A) -> bool
_%_ modulo_int64 (int, int) -> int
_%_ modulo_uint64 (uint, uint) -> uint
_&&_ logical_and (bool, bool) -> bool
_*_ multiply_double (double, double) -> double
_*_ multiply_int64 (int, int) -> int
_*_ multiply_uint64 (uint, uint) -> uint
_+_ add_bytes (bytes, bytes) -> bytes
_+_ add_double (double, double) -> double
_+_ add_duration_duration (duration, duration) -> duration
_+_ add_duration_timestamp (duration, timestamp) -> timestamp
_+_ add_timestamp_duration (timestamp, duration) -> timestamp
_+_ add_int64 (int, int) -> int
_+_ add_list (list(A), list(A)) -> list(A)
_+_ add_string (string, string) -> string
_+_ add_uint64 (uint, uint) -> uint
_-_ subtract_double (double, double) -> double
_-_ subtract_duration_duration (duration, duration) -> duration
_-_ subtract_int64 (int, int) -> int
_-_ subtract_timestamp_duration (timestamp, duration) -> timestamp
_-_ subtract_timestamp_timestamp (timestamp, timestamp) -> duration
_-_ subtract_uint64 (uint, uint) -> uint
_/_ divide_double (double, double) -> double
_/_ divide_int64 (int, int) -> int
_/_ divide_uint64 (uint, uint) -> uint
_==_ equals (A, A) -> bool
_?._ select_optional_field (dyn, string) -> optional(V)
_?_:_ conditional (bool, A, A) -> A
_[?_] list_optindex_optional_int (list(V), int) -> optional(V)
_[?_] optional_list_optindex_optional_int (optional(list(V)), int) -> optional(V)
_[?_] map_optindex_optional_value (map(K, V), K) -> optional(V)
_[?_] optional_map_optindex_optional_value (optional(map(K, V)), K) -> optional(V)
_[_] index_list (list(A), int) -> A
_[_] index_map (map(A, B), A) -> B
_[_] optional_list_index_int (optional(list(V)), int) -> optional(V)
_[_] optional_map_index_value (optional(map(K, V)), K) -> optional(V)
_||_ logical_or (bool, bool) -> bool
add quantity_add quantity.(quantity) -> quantity
add quantity_add_int quantity.(int) -> quantity
allowed decision_allowed Decision.() -> bool
asApproximateFloat quantity_get_float quantity.() -> double
asInteger quantity_get_int quantity.() -> int
bool bool_to_bool (bool) -> bool
bool string_to_bool (string) -> bool
bytes bytes_to_bytes (bytes) -> bytes
bytes string_to_bytes (string) -> bytes
cel.@mapInsert @mapInsert_map_key_value (map(K, V), K, V) -> map(K, V)
cel.@mapInsert @mapInsert_map_map (map(K, V), map(K, V)) -> map(K, V)
charAt string_char_at_int string.(int) -> string
check pathcheck_check PathCheck.(string) -> Decision
check resourcecheck_check ResourceCheck.(string) -> Decision
cidr string_to_cidr (string) -> cidr
compareTo quantity_compare_to quantity.(quantity) -> int
compareTo semver_compare_to semver.(semver) -> int
contains contains_string string.(string) -> bool
containsCIDR cidr_contains_cidr_string cidr.(string) -> bool
containsCIDR cidr_contains_cidr cidr.(cidr) -> bool
containsIP cidr_contains_ip_string cidr.(string) -> bool
containsIP cidr_contains_ip_ip cidr.(ip) -> bool
distinct list_distinct list(T).() -> list(T)
double double_to_double (double) -> double
double int64_to_double (int) -> double
double string_to_double (string) -> double
double uint64_to_double (uint) -> double
duration duration_to_duration (duration) -> duration
duration int64_to_duration (int) -> duration
duration string_to_duration (string) -> duration
dyn to_dyn (A) -> dyn
endsWith ends_with_string string.(string) -> bool
error decision_error Decision.() -> string
errored decision_errored Decision.() -> bool
family ip_family ip.() -> int
fieldSelector authorizer_fieldselector ResourceCheck.(string) -> ResourceCheck
find string_find_string string.(string) -> string
findAll string_find_all_string string.(string) -> list(string)
findAll string_find_all_string_int string.(string, int) -> list(string)
first list_first list(V).() -> optional(V)
flatten list_flatten list(list(T)).() -> list(T)
flatten list_flatten_int list(dyn).(int) -> list(dyn)
format string_format string.(list(dyn)) -> string
format.named format-named (string) -> optional(named_format)
getEscapedPath url_get_escaped_path url.() -> string
getHost url_get_host url.() -> string
getHostname url_get_hostname url.() -> string
getPort url_get_port url.() -> string
getQuery url_get_query url.() -> map(string, list(string))
getScheme url_get_scheme url.() -> string
group authorizer_group Authorizer.(string) -> GroupCheck
hasValue optional_hasValue optional(V).() -> bool
indexOf list_a_index_of_int list(A).(A) -> int
indexOf string_index_of_string string.(string) -> int
indexOf string_index_of_string_int string.(string, int) -> int
int int64_to_int64 (int) -> int
int double_to_int64 (double) -> int
int duration_to_int64 (duration) -> int
int string_to_int64 (string) -> int
int timestamp_to_int64 (timestamp) -> int
int uint64_to_int64 (uint) -> int
ip string_to_ip (string) -> ip
ip cidr_ip cidr.() -> ip
ip.isCanonical ip_is_canonical (string) -> bool
isCIDR is_cidr (string) -> bool
isGlobalUnicast ip_is_global_unicast ip.() -> bool
isGreaterThan quantity_is_greater_than quantity.(quantity) -> bool
isGreaterThan semver_is_greater_than semver.(semver) -> bool
isIP is_ip (string) -> bool
isInteger quantity_is_integer quantity.() -> bool
isLessThan quantity_is_less_than quantity.(quantity) -> bool
isLessThan semver_is_less_than semver.(semver) -> bool
isLinkLocalMulticast ip_is_link_local_multicast ip.() -> bool
isLinkLocalUnicast ip_is_link_local_unicast ip.() -> bool
isLoopback ip_is_loopback ip.() -> bool
isQuantity is_quantity_string (string) -> bool
isSemver is_semver_string (string) -> bool
isSemver is_semver_string_bool (string, bool) -> bool
isURL is_url_string (string) -> bool
isUnspecified ip_is_unspecified ip.() -> bool
join list_join list(string).() -> string
join list_join_string list(string).(string) -> string
labelSelector authorizer_labelselector ResourceCheck.(string) -> ResourceCheck
last list_last list(V).() -> optional(V)
lastIndexOf list_a_last_index_of_int list(A).(A) -> int
lastIndexOf string_last_index_of_string string.(string) -> int
lastIndexOf string_last_index_of_string_int string.(string, int) -> int
lists.range lists_range (int) -> list(int)
lowerAscii string_lower_ascii string.() -> string
major semver_major semver.() -> int
masked cidr_masked cidr.() -> cidr
matches matches (string, string) -> bool
matches matches_string string.(string) -> bool
minor semver_minor semver.() -> int
name resourcecheck_name ResourceCheck.(string) -> ResourceCheck
namespace resourcecheck_namespace ResourceCheck.(string) -> ResourceCheck
optional.none optional_none () -> optional(V)
optional.of optional_of (V) -> optional(V)
optional.ofNonZeroValue optional_ofNonZeroValue (V) -> optional(V)
optional.unwrap optional_unwrap (list(optional(V))) -> list(V)
or optional_or_optional optional(V).(optional(V)) -> optional(V)
orValue optional_orValue_value optional(V).(V) -> V
patch semver_patch semver.() -> int
path authorizer_path Authorizer.(string) -> PathCheck
prefixLength cidr_prefix_length cidr.() -> int
quantity string_to_quantity (string) -> quantity
reason decision_reason Decision.() -> string
replace string_replace_string_string string.(string, string) -> string
replace string_replace_string_string_int string.(string, string, int) -> string
resource groupcheck_resource GroupCheck.(string) -> ResourceCheck
reverse list_reverse list(T).() -> list(T)
semver string_to_semver (string) -> semver
semver string_bool_to_semver (string, bool) -> semver
serviceAccount authorizer_serviceaccount Authorizer.(string, string) -> Authorizer
sets.contains list_sets_contains_list (list(T), list(T)) -> bool
sets.equivalent list_sets_equivalent_list (list(T), list(T)) -> bool
sets.intersects list_sets_intersects_list (list(T), list(T)) -> bool
sign quantity_sign (quantity) -> int
size size_bytes (bytes) -> int
size bytes_size bytes.() -> int
size size_list (list(A)) -> int
size list_size list(A).() -> int
size size_map (map(A, B)) -> int
size map_size map(A, B).() -> int
size size_string (string) -> int
size string_size string.() -> int
slice list_slice list(T).(int, int) -> list(T)
split string_split_string string.(string) -> list(string)
split string_split_string_int string.(string, int) -> list(string)
startsWith starts_with_string string.(string) -> bool
string string_to_string (string) -> string
string bool_to_string (bool) -> string
string bytes_to_string (bytes) -> string
string double_to_string (double) -> string
string duration_to_string (duration) -> string
string int64_to_string (int) -> string
string timestamp_to_string (timestamp) -> string
string uint64_to_string (uint) -> string
string ip_to_string (ip) -> string
string cidr_to_string (cidr) -> string
strings.quote strings_quote (string) -> string
sub quantity_sub quantity.(quantity) -> quantity
sub quantity_sub_int quantity.(int) -> quantity
subresource resourcecheck_subresource ResourceCheck.(string) -> ResourceCheck
substring string_substring_int string.(int) -> string
substring string_substring_int_int string.(int, int) -> string
timestamp timestamp_to_timestamp (timestamp) -> timestamp
timestamp int64_to_timestamp (int) -> timestamp
timestamp string_to_timestamp (string) -> timestamp
trim string_trim string.() -> string
type type (A) -> type(A)
uint uint64_to_uint64 (uint) -> uint
uint double_to_uint64 (double) -> uint
uint int64_to_uint64 (int) -> uint
uint string_to_uint64 (string) -> uint
unwrapOpt optional_unwrapOpt list(optional(V)).() -> list(V)
upperAscii string_upper_ascii string.() -> string
url string_to_url (string) -> url
validate format-validate named_format.(string) -> optional(list(string))
value optional_value optional(V).() -> V
"""
